import { AuditFault } from './auditFault.ts'
import { type ChainNode, signaturesPerPage } from './chainNode.ts'
import { burnRoundsOf } from './kinds/burn.ts'
import { movesOf } from './landedPayment.ts'
import type { Replay } from './replay.ts'
import { arrivalStream, solanaStream } from './streamName.ts'
import { sumOf, type TokenMove } from './tokenMoves.ts'

export interface UnrecordedDeps {
  readonly node: ChainNode
  readonly replay: Replay
  /** Maximum age, in milliseconds, of a transfer that no caller has presented and of a burn that is not confirmed. */
  readonly recordedWithinMs: number
  readonly figures: {
    lookedFor: number
    presentable: number
  }
}

interface Unrecorded {
  readonly signature: string
  readonly mint: string
  readonly accounts: readonly string[]
  /** Age of the transfer in milliseconds, at the time of the ledger's last event. */
  readonly ageMs: number
}

/**
 * Searches the chain for transactions that changed the balance of one of these token accounts and are missing from the
 * ledger. All accounts have the same mint.
 */
export async function findUnrecordedTransfers(
  deps: UnrecordedDeps,
  mint: string,
  accounts: readonly string[],
): Promise<void> {
  const seen = new Set<string>()
  for (const account of accounts) {
    for await (const { signature, ageMs } of landedOn(deps, account)) {
      // Check each transfer once, because the node lists a transfer between two of the accounts for both of them.
      if (accounts.length > 1 && seen.has(signature)) continue
      if (accounts.length > 1) seen.add(signature)
      deps.figures.lookedFor++
      if (!isRecorded(deps, signature, mint)) await judgeUnrecorded(deps, { signature, mint, accounts, ageMs })
    }
  }
}

async function* landedOn(
  { node, replay }: UnrecordedDeps,
  account: string,
): AsyncGenerator<{ readonly signature: string; readonly ageMs: number }> {
  let before: string | undefined
  let pageLength = signaturesPerPage
  while (pageLength === signaturesPerPage) {
    const page = await node.signaturesOf(account, before)
    for (const { signature, err, blockTime } of page) {
      const failed = err !== null && err !== undefined
      const ageMs = replay.recordedAtMs - (blockTime ?? 0) * 1000
      // Skip transactions that landed after the ledger's last event.
      if (!failed && ageMs >= 0) yield { signature, ageMs }
    }
    const last = page.at(-1)?.signature
    if (last !== undefined && last === before)
      throw new AuditFault('the Solana node answered with the same signatures again', { retryable: true })
    before = last
    pageLength = page.length
  }
}

/**
 * True if the ledger has recorded the transaction in this mint, or in a stream without a mint. A record in another mint
 * does not explain the change. A payment that was only submitted is not recorded yet.
 */
function isRecorded({ replay }: UnrecordedDeps, signature: string, mint: string): boolean {
  const row = replay.streams.find(solanaStream(signature))
  if (row === undefined || row.state === 'submitted') return false
  return row.mint === '' || row.mint === mint || replay.streams.find(arrivalStream(signature, mint)) !== undefined
}

async function judgeUnrecorded(
  { node, replay, recordedWithinMs, figures }: UnrecordedDeps,
  { signature, mint, accounts: own, ageMs }: Unrecorded,
): Promise<void> {
  const landed = await node.transaction(signature)
  if (landed === undefined) return
  const { moves, accounts } = movesOf(landed, mint)
  const changeBaseUnits = own.reduce((sum, account) => sum + (accounts.get(account)?.changeBaseUnits ?? 0n), 0n)
  // Ignore transactions that do not change the total, such as the opening of an account or a transfer between the
  // service's accounts.
  if (changeBaseUnits === 0n) return
  const isSubmittedBurn = burnRoundsOf(replay.state).some(
    (round) =>
      round.stream === solanaStream(signature) && round.mint === mint && round.burnBaseUnits === -changeBaseUnits,
  )
  if ((changeBaseUnits > 0n || isSubmittedBurn) && ageMs < recordedWithinMs) {
    figures.presentable++
    return
  }
  const message = `${describeChange(changeBaseUnits, moves)} in slot ${landed.slot}`
  replay.findings.add('not_in_the_ledger', { position: undefined, subject: signature, message })
}

function describeChange(changeBaseUnits: bigint, moves: readonly TokenMove[]): string {
  if (changeBaseUnits < 0n) return `${-changeBaseUnits} left`
  const burnedBaseUnits = sumOf(moves.filter(({ kind }) => kind === 'burn'))
  return `${changeBaseUnits} arrived${burnedBaseUnits > 0n ? ` and ${burnedBaseUnits} were burned` : ''}`
}
