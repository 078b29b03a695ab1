import type { Chain } from '../chain/openChain.ts'
import type { Signature } from '@tollbook/core/signature'
import { statusesMax } from '../payment/finalityReader.ts'
import type { PayoutAttempt } from '../store/holderPayoutStore.ts'

/** State of the transaction of a part on chain. Only `failed` and `absent` permit another one. */
export type AttemptStanding =
  | { readonly kind: 'final' }
  | { readonly kind: 'failed'; readonly why: string }
  /** It has not landed and never will; every node in rotation agrees. */
  | { readonly kind: 'absent' }
  /** It landed and is not final. */
  | { readonly kind: 'waiting' }
  /** No node knows it yet. */
  | { readonly kind: 'unseen' }

/** Standing of each attempt by its signature. Heights are read first: without them no transaction counts as expired. */
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

interface Status {
  readonly isFinalized: boolean
  readonly hasFailed: boolean
}

async function judge(chain: Chain, attempt: PayoutAttempt, status: Status | undefined): Promise<AttemptStanding> {
  if (status === undefined) return judgeUnseen(chain, attempt)
  if (!status.isFinalized) return { kind: 'waiting' }
  if (!status.hasFailed) return { kind: 'final' }
  // A status can be forged; the finalized record decides that a part may be sent again.
  const found = await chain.finality.findFinalized(attempt.signature)
  const failure = found?.failure
  return failure === undefined ? { kind: 'waiting' } : { kind: 'failed', why: failure.text }
}

async function judgeUnseen(chain: Chain, { signature, lastValidHeight }: PayoutAttempt): Promise<AttemptStanding> {
  if (chain.nodes.height() <= lastValidHeight) return { kind: 'unseen' }
  const bound = { lastValidHeight, basis: 'blockhash_accepted' } as const
  const finding = await chain.reader.find(signature, { bound, commitment: 'finalized' })
  return { kind: finding.kind === 'proven_absent' ? 'absent' : 'unseen' }
}
