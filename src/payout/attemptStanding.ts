import type { Chain } from '../chain/openChain.ts'
import { denyingNodesMin, historyBlocksMin } from '../payment/absence.ts'
import type { Signature } from '@tollbook/core/signature'
import { type SignatureStatus, statusesMax } from '../payment/finalityReader.ts'
import type { PayoutAttempt } from '../store/holderPayoutStore.ts'

/** Only `failed` and `absent` permit another transaction of the part, because a second one could pay the debts twice. */
export type AttemptStanding =
  | { readonly kind: 'final' }
  | { readonly kind: 'failed'; readonly why: string }
  /** The transaction has not landed and never will. At least two nodes are in rotation, and all agree. */
  | { readonly kind: 'absent' }
  /** One node alone reports that the transaction failed or is absent, or the nodes lack blocks that could contain it. */
  | { readonly kind: 'unproven'; readonly why: string }
  /** The transaction landed and is not final, or its failure is reported but has no finalized record yet. */
  | { readonly kind: 'waiting'; readonly hasFailed: boolean }
  | { readonly kind: 'unseen' }

/**
 * Judges what became of the transactions. Reads the heights of the nodes first, because without them no transaction
 * counts as expired.
 */
export async function judgeAttempts(
  chain: Chain,
  attempts: readonly PayoutAttempt[],
): Promise<ReadonlyMap<Signature, AttemptStanding>> {
  const standings = new Map<Signature, AttemptStanding>()
  if (attempts.length > 0) await chain.nodes.poll()
  for (let from = 0; from < attempts.length; from += statusesMax) {
    const asked = attempts.slice(from, from + statusesMax)
    const signatures = asked.map(({ signature }) => signature)
    const { statuses } = await chain.finality.findStatuses({ signatures, searchHistory: true })
    for (const [index, attempt] of asked.entries()) {
      const status = statuses[index]
      standings.set(attempt.signature, await judge(chain, attempt, status))
    }
  }
  return standings
}

async function judge(
  chain: Chain,
  attempt: PayoutAttempt,
  status: SignatureStatus | undefined,
): Promise<AttemptStanding> {
  if (status === undefined) return judgeUnseen(chain, attempt)
  if (!status.isFinalized) return { kind: 'waiting', hasFailed: status.hasFailed }
  if (!status.hasFailed) return { kind: 'final' }
  // Do not trust the status alone, because a node can forge a failure, and the part would then be paid twice. The
  // finalized record must confirm the failure.
  const found = await chain.reader.find(attempt.signature, { commitment: 'finalized', isAgreed: true })
  const failure = found.kind === 'found' ? found.record.failure : undefined
  if (found.kind !== 'found' || failure === undefined) return { kind: 'waiting', hasFailed: true }
  return found.nodes < denyingNodesMin ? unproven(attempt, 'failed on chain') : { kind: 'failed', why: failure.text }
}

async function judgeUnseen(chain: Chain, attempt: PayoutAttempt): Promise<AttemptStanding> {
  const { signature, lastValidHeight } = attempt
  if (chain.nodes.height() <= lastValidHeight) return { kind: 'unseen' }
  const bound = { lastValidHeight, basis: 'blockhash_accepted' } as const
  const finding = await chain.reader.find(signature, { bound, commitment: 'finalized' })
  if (finding.kind === 'proven_absent')
    return finding.evidence.readings.length < denyingNodesMin ? unproven(attempt, 'never landed') : { kind: 'absent' }
  if (chain.nodes.height() - lastValidHeight < historyBlocksMin) return { kind: 'unseen' }
  const why = `the nodes do not prove that ${signature} never landed, so it is not paid again: use nodes in SOLANA_RPC_URLS that all answer and have its blocks, or record it if it is on chain`
  return { kind: 'unproven', why }
}

function unproven({ signature }: PayoutAttempt, fate: string): AttemptStanding {
  const why = `one node alone says that ${signature} ${fate}, so it is not paid again: add a second node to SOLANA_RPC_URLS, or wait until the node shows it and record it`
  return { kind: 'unproven', why }
}
