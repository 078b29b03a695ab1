import { assertNever } from './invariant.ts'
import type { AuditedEvent } from './auditedEvent.ts'
import type { AuditedSettlement, PaymentEvent, PaymentEventOf, Reversal } from './paymentEvents.ts'
import type { BurnEventOf, PayoutEvent } from './payoutEvents.ts'

/*
 * Double entry derived a second time, from the table in docs/ledger.md: which accounts each event debits and credits. The
 * amounts are those of the event's body; a posting of nothing is not posted.
 */

export type DerivedPosting = readonly [debit: string, credit: string, amountBaseUnits: bigint]

const wallet = 'Assets:PaymentWallet'
const unearned = 'Liabilities:Unearned'
const burnOwed = 'Liabilities:BurnOwed'
const burnedByCallers = 'Income:BurnedByCallers'
const exposed = 'Memo:Exposed'
const exposedContra = 'Memo:ExposedContra'
const nothing: readonly DerivedPosting[] = []

/** Postings that an event must have. Those of zero are left out, as the ledger leaves them out. */
export function postingsOf(event: AuditedEvent): readonly DerivedPosting[] {
  const postings = allPostingsOf(event)
  return postings.every(movesSomething) ? postings : postings.filter(movesSomething)
}

function movesSomething([, , amountBaseUnits]: DerivedPosting): boolean {
  return amountBaseUnits !== 0n
}

function allPostingsOf(event: AuditedEvent): readonly DerivedPosting[] {
  if (event.kind === 'DistributionPaid') return paidOut(event)
  if (event.kind === 'BurnConfirmed') return burnedLater(event)
  if (event.kind === 'BurnSubmitted' || event.kind === 'BurnFailed') return nothing
  if (event.kind === 'RefundGranted')
    return [['Expenses:RefundsGranted', `Liabilities:RefundsDue:${event.wallet}`, event.amountBaseUnits]]
  if (event.kind === 'RefundApproved') return nothing
  if (event.kind === 'HolderPayoutPlanned' || event.kind === 'HolderPayoutEnded') return nothing
  if (event.kind === 'PriceListPublished' || event.kind === 'SettingChanged') return nothing
  return ofPayment(event)
}

function ofPayment(event: PaymentEvent): readonly DerivedPosting[] {
  switch (event.kind) {
    case 'PaymentVerified':
      return received(event)
    case 'TokensBurned':
      return [[burnedAt(event.endpoint), burnedByCallers, event.burnedBaseUnits]]
    case 'BurnReversed':
      return [[burnedByCallers, burnedAt(event.endpoint), event.burnedBaseUnits]]
    case 'BurnOwed':
      return [[unearned, burnOwed, event.owedBaseUnits]]
    case 'ProofClaimed':
      return [[exposed, exposedContra, event.exposedBaseUnits]]
    case 'AnswerBroken':
    case 'RequestFailed':
    case 'PaymentFinalized':
      return [[exposedContra, exposed, event.exposedBaseUnits]]
    case 'DistributionAllocated':
      return event.parts.map(({ account, baseUnits }) => [unearned, `Liabilities:Share:${account}`, baseUnits])
    case 'PaymentReversed':
      return [...takenBack(event), [exposedContra, exposed, event.exposedBaseUnits]]
    case 'RefundDue':
      return [[unearned, `Liabilities:RefundsDue:${event.wallet}`, event.refundBaseUnits]]
    case 'TransferReceived':
      return [[wallet, `Liabilities:Unmatched:${event.wallet ?? 'unknown'}`, event.receivedBaseUnits]]
    case 'PaymentSubmitted':
    case 'AnswerStarted':
    case 'AttemptsExhausted':
    case 'RequestFulfilled':
      return nothing
    default:
      return assertNever(event)
  }
}

/** An amount beyond the price is owed back to the wallet that paid. */
function received({ settlement }: PaymentEventOf<'PaymentVerified'>): readonly DerivedPosting[] {
  const { receivedBaseUnits } = settlement
  const owed = dueOf(settlement)
  return [
    [wallet, unearned, owed],
    [wallet, `Liabilities:Overpaid:${settlement.wallet}`, receivedBaseUnits - owed],
  ]
}

/** Amount that has to arrive: all that is required, less the burn where the payer has burned it in the payment itself. */
export function dueOf(settlement: AuditedSettlement): bigint {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  return isPaidWhole(settlement) ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}

/** The payer sent the whole price and burned nothing: the service makes the burn. */
export function isPaidWhole({ price, burnedBaseUnits }: AuditedSettlement): boolean {
  return burnedBaseUnits < price.burnBaseUnits
}

/** A reversed payment never arrived. Shares that were earned with it stay owed, and become a loss. */
function takenBack(event: Reversal): readonly DerivedPosting[] {
  return [
    [unearned, wallet, event.unearnedBaseUnits],
    ['Expenses:ReversedPayments', wallet, event.lostBaseUnits],
    [`Liabilities:Overpaid:${event.wallet}`, wallet, event.overpaidBaseUnits],
    [burnOwed, wallet, event.burnOwedBaseUnits],
  ]
}

function paidOut({ payments }: PayoutEvent): readonly DerivedPosting[] {
  return payments.map(({ account, paidBaseUnits }) => [account, wallet, paidBaseUnits])
}

/** The burn of a round leaves the wallet, and counts for the endpoints whose callers paid for it. */
function burnedLater(event: BurnEventOf<'BurnConfirmed'>): readonly DerivedPosting[] {
  return [
    [burnOwed, wallet, event.burnedBaseUnits],
    ...event.parts.map(({ endpoint, baseUnits }): DerivedPosting => [burnedAt(endpoint), burnedByCallers, baseUnits]),
  ]
}

function burnedAt(endpoint: string): string {
  return `Expenses:Burned:${endpoint}`
}

/** All of an event is of one mint. Undefined for an event that moves nothing. */
export function mintOf(event: AuditedEvent): string | undefined {
  if (event.kind === 'PaymentVerified') return event.settlement.price.mint
  return 'mint' in event ? event.mint : undefined
}
