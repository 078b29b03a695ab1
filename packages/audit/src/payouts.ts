import type { FindingCode, Findings } from './findings.ts'
import type { Journal } from './journal.ts'
import type { OtherStreams } from './otherStreams.ts'
import type { Recorded } from './paymentRules.ts'
import type { BurnEvent, BurnEventOf, EndpointBurn, PayoutEvent } from './payoutEvents.ts'
import { solanaStream } from './streamName.ts'

export interface PayoutDeps {
  readonly findings: Findings
  readonly journal: Journal
  readonly streams: OtherStreams
  /** One transaction is never a payment and something else. */
  readonly isPayment: (stream: string) => boolean
}

export interface PayoutsState {
  readonly rounds: readonly BurnRound[]
  /** Burns that are owed and not confirmed, by mint and endpoint. */
  readonly burnsOwed: readonly (readonly [string, string])[]
}

/** A burn from its first event on. */
interface BurnRound {
  readonly stream: string
  readonly mint: string
  readonly round: number
  readonly position: number
  readonly throughPosition: number
  readonly burnBaseUnits: string
  readonly parts: string
  readonly end?: 'confirmed' | 'failed'
}

const payable =
  /^Liabilities:(?:Share:[a-z][a-z0-9-]{0,31}|(?:Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** Tokens that left the payment wallet: each transaction and each round once, and never more than is owed. */
export class Payouts {
  readonly #deps: PayoutDeps
  readonly #rounds: Map<string, BurnRound>
  readonly #burnsOwed: Map<string, bigint>

  constructor(deps: PayoutDeps, state?: PayoutsState) {
    this.#deps = deps
    this.#rounds = new Map((state?.rounds ?? []).map((round) => [round.stream, round]))
    this.#burnsOwed = new Map((state?.burnsOwed ?? []).map(([key, owed]) => [key, BigInt(owed)]))
  }

  /** Is the transaction one of ours that left the wallet? */
  has(signature: string): boolean {
    return this.#deps.streams.find(solanaStream(signature)) !== undefined
  }

  rounds(): readonly BurnRound[] {
    return [...this.#rounds.values()]
  }

  state(): PayoutsState {
    const burnsOwed = [...this.#burnsOwed].map(([key, owed]) => [key, owed.toString()] as const)
    return { rounds: this.rounds(), burnsOwed }
  }

  /** A payment owes a burn for the answers of an endpoint; negative when it no longer does. */
  oweBurn({ mint, endpoint }: { readonly mint: string; readonly endpoint: string }, baseUnits: bigint): void {
    if (baseUnits === 0n) return
    const key = `${mint} ${endpoint}`
    this.#burnsOwed.set(key, (this.#burnsOwed.get(key) ?? 0n) + baseUnits)
  }

  /** After its postings have been entered. */
  judgePayout(event: PayoutEvent, recorded: Recorded): void {
    const { signature, mint, payments } = event
    this.#deps.streams.advance(event, recorded, { kind: 'payout', from: '', to: 'paid' })
    const blame = this.#blameAt(recorded, event.stream)
    this.#expectOwnTransaction(event.stream, blame)
    if (event.stream !== solanaStream(signature)) blame('lifecycle_impossible', 'the payout has another signature')
    for (const { account, wallet } of payments) {
      const owner = account.startsWith('Liabilities:Share:') ? wallet : (account.split(':')[2] ?? wallet)
      if (owner !== wallet) blame('owner_differs', `what is owed to ${owner} was paid to ${wallet}`, account)
      if (!payable.test(account)) blame('lifecycle_impossible', `nothing is paid out of ${account}`)
      const balance = this.#deps.journal.account(mint, account)?.balanceBaseUnits ?? 0n
      if (balance > 0n) blame('payout_exceeds', `${balance} more were paid than was owed`, account)
    }
  }

  /** After its postings have been entered. */
  judgeBurn(event: BurnEvent, recorded: Recorded): void {
    if (event.kind === 'BurnSubmitted') this.#submit(event, recorded)
    else if (event.kind === 'BurnConfirmed') this.#confirm(event, recorded)
    else this.#fail(event, recorded)
  }

  #submit(event: BurnEventOf<'BurnSubmitted'>, recorded: Recorded): void {
    const { stream, mint, round, throughPosition, burnBaseUnits, parts } = event
    this.#deps.streams.advance(event, recorded, { kind: 'burn', from: '', to: 'submitted' })
    const blame = this.#blameAt(recorded, stream)
    this.#expectOwnTransaction(stream, blame)
    const earlier = this.rounds().filter((known) => known.mint === mint)
    if (earlier.some((known) => known.round === round))
      blame('lifecycle_impossible', `round ${round} is burned already`)
    if (throughPosition >= recorded.position) blame('lifecycle_impossible', 'the round reaches beyond its own event')
    const open = earlier.find(({ end }) => end === undefined)
    if (open !== undefined) blame('lifecycle_impossible', `round ${open.round} has not ended`)
    const burned = earlier.filter(({ end }) => end === 'confirmed')
    const passed = Math.max(0, ...burned.map((known) => known.throughPosition))
    if (throughPosition <= passed) blame('lifecycle_impossible', `an earlier round reaches up to position ${passed}`)
    this.#expectWhole(parts, burnBaseUnits, blame)
    const owed = -(this.#deps.journal.account(mint, 'Liabilities:BurnOwed')?.balanceBaseUnits ?? 0n)
    if (burnBaseUnits > owed) blame('burn_exceeds', `${burnBaseUnits} are to be burned of ${owed} that are owed`)
    this.#rounds.set(stream, {
      stream,
      mint,
      round,
      position: recorded.position,
      throughPosition,
      burnBaseUnits: burnBaseUnits.toString(),
      parts: describeParts(parts),
    })
  }

  #confirm(event: BurnEventOf<'BurnConfirmed'>, recorded: Recorded): void {
    const { stream, mint, round, burnedBaseUnits, parts } = event
    this.#deps.streams.advance(event, recorded, { kind: 'burn', from: 'submitted', to: 'confirmed' })
    const blame = this.#blameAt(recorded, stream)
    this.#expectWhole(parts, burnedBaseUnits, blame)
    const submitted = this.#rounds.get(stream)
    const right = submitted === undefined ? undefined : [submitted.mint, submitted.round, submitted.burnBaseUnits]
    const found = [mint, round, burnedBaseUnits]
    if (right === undefined) blame('burn_differs', 'the burn was never submitted')
    else if (found.join() !== right.join() || submitted?.parts !== describeParts(parts)) {
      blame('burn_differs', `${found.join(' / ')} is confirmed, and ${right.join(' / ')} was submitted`)
    }
    if (submitted !== undefined) this.#rounds.set(stream, { ...submitted, end: 'confirmed' })
    const balance = this.#deps.journal.account(mint, 'Liabilities:BurnOwed')?.balanceBaseUnits ?? 0n
    if (balance > 0n) blame('burn_exceeds', `${balance} more were burned than was owed`)
    for (const { endpoint, baseUnits } of parts) {
      this.oweBurn({ mint, endpoint }, -baseUnits)
      const owed = this.#burnsOwed.get(`${mint} ${endpoint}`) ?? 0n
      if (owed < 0n) blame('burn_exceeds', `${-owed} more were burned for ${endpoint} than was owed`)
    }
  }

  /** Its debts stay owed. Whether the chain really does not have the burn is asked of a node. */
  #fail(event: BurnEventOf<'BurnFailed'>, recorded: Recorded): void {
    const { stream, mint, round } = event
    this.#deps.streams.advance(event, recorded, { kind: 'burn', from: 'submitted', to: 'failed' })
    const submitted = this.#rounds.get(stream)
    if (submitted === undefined || submitted.mint !== mint || submitted.round !== round)
      this.#blameAt(recorded, stream)('burn_differs', `round ${round} of ${mint} failed, and another was submitted`)
    else this.#rounds.set(stream, { ...submitted, end: 'failed' })
  }

  #expectWhole(parts: readonly EndpointBurn[], wholeBaseUnits: bigint, blame: BlameAt): void {
    const sum = parts.reduce((total, { baseUnits }) => total + baseUnits, 0n)
    if (sum !== wholeBaseUnits) blame('burn_differs', `the parts sum to ${sum}, and the burn is ${wholeBaseUnits}`)
  }

  #expectOwnTransaction(stream: string, blame: BlameAt): void {
    if (this.#deps.isPayment(stream)) blame('lifecycle_impossible', 'the transaction is a payment')
  }

  #blameAt({ position }: Recorded, stream: string): BlameAt {
    return (code, message, subject = stream) => this.#deps.findings.add(code, { position, subject, message })
  }
}

type BlameAt = (code: FindingCode, message: string, subject?: string) => void

function describeParts(parts: readonly EndpointBurn[]): string {
  return parts.map(({ endpoint, baseUnits }) => `${endpoint} ${baseUnits}`).join(', ')
}
