import type { OnChain } from '../onChain.ts'
import { dueOf } from '../settlement.ts'
import type { DerivedPosting } from '../postingReplay.ts'
import { type AuditedKind, eventOf } from './auditedKind.ts'
import * as bodies from './paymentBodies.ts'
import * as rules from './paymentRules.ts'
import { paymentSteps } from './paymentSteps.ts'
import { depositEvents } from './tabDeposit.ts'
import { solanaId } from '../streamName.ts'

const wallet = 'Assets:PaymentWallet'
const unearned = 'Liabilities:Unearned'
const burnOwed = 'Liabilities:BurnOwed'
const toDeliver = 'Assets:TokensToDeliver'
const burnedByCallers = 'Income:BurnedByCallers'
const exposed = 'Memo:Exposed'
const exposedContra = 'Memo:ExposedContra'
const burnedAt = (endpoint: string): string => `Expenses:Burned:${endpoint}`

const endOfExposure = ({ exposedBaseUnits }: { readonly exposedBaseUnits: bigint }): readonly DerivedPosting[] => [
  [exposedContra, exposed, exposedBaseUnits],
]

const verified = eventOf(bodies.verified, {
  mint: ({ settlement }) => settlement.price.mint,
  // The service owes everything above the price back to the wallet that paid.
  postings: ({ settlement }) => [
    [wallet, unearned, dueOf(settlement)],
    [wallet, `Liabilities:Overpaid:${settlement.wallet}`, settlement.receivedBaseUnits - dueOf(settlement)],
  ],
  judge: rules.judgeVerified,
  signed: ({ settlement }) => ({
    transactionBase64: settlement.evidence.transactionBase64,
    payment: settlement,
  }),
  onChain: ({ settlement }) => ({ is: 'payment', settlement }),
})

// The tokens of a reversed payment did not arrive. Shares that were already allocated stay owed, so the service records
// a loss.
const reversed = eventOf(bodies.reversed, {
  postings: (event) => [
    [unearned, wallet, event.unearnedBaseUnits],
    ['Expenses:ReversedPayments', wallet, event.lostBaseUnits],
    [`Liabilities:Overpaid:${event.wallet}`, wallet, event.overpaidBaseUnits],
    [burnOwed, wallet, event.burnOwedBaseUnits],
    ...endOfExposure(event),
  ],
  judge: rules.judgeReversed,
  onChain: ({ mint, finalizedSlot }) => ({ is: 'dropped', mint, finalizedSlot }),
})

const arrival = ({ mint, slot, receivedBaseUnits, wallet: sender }: Arrived): OnChain => {
  return { is: 'change', mint, slot, changeBaseUnits: receivedBaseUnits, sender }
}

type Arrived = bodies.Body<typeof bodies.received> | bodies.Body<typeof bodies.delivered>

/** Creates the entries for tokens without a request: transfers, and the treasury's tokens for burns. */
const arrivalsBy = (judge: typeof rules.judgeReceived) => [
  eventOf(bodies.received, {
    postings: (event) => [[wallet, `Liabilities:Unmatched:${event.wallet ?? 'unknown'}`, event.receivedBaseUnits]],
    judge,
    onChain: arrival,
  }),
  eventOf(bodies.delivered, {
    postings: ({ receivedBaseUnits }) => [[wallet, toDeliver, receivedBaseUnits]],
    judge,
    onChain: arrival,
  }),
]

/** Entries for arrivals in a second mint. Their streams have different names, so `judgeArrival` checks them. */
export const arrivalEvents = arrivalsBy(rules.judgeArrival)

/**
 * Debits the account that the event states, so that `judgeBurnOwed` reports a wrong source as an error of the rules,
 * and not as a wrong posting.
 */
export const burnOwedEvent = eventOf(bodies.burnOwed, {
  postings: ({ owedBaseUnits, source }) => [[source === undefined ? unearned : toDeliver, burnOwed, owedBaseUnits]],
  judge: rules.judgeBurnOwed,
})

/** Stream kind of a payment, from its submission to its delivery, refund or reversal. */
export const payment: AuditedKind = {
  kind: 'payment',
  ...solanaId,
  steps: paymentSteps,
  events: new Map([
    eventOf(bodies.submitted, {
      judge: rules.judgeSubmitted,
      signed: ({ transactionBase64 }) => ({ transactionBase64, isSent: true }),
    }),
    verified,
    eventOf(bodies.tokensBurned, {
      postings: ({ endpoint, burnedBaseUnits }) => [[burnedAt(endpoint), burnedByCallers, burnedBaseUnits]],
      judge: rules.judgeBurn,
    }),
    burnOwedEvent,
    eventOf(bodies.claimed, {
      postings: ({ exposedBaseUnits }) => [[exposed, exposedContra, exposedBaseUnits]],
      judge: rules.judgeClaimed,
    }),
    eventOf(bodies.started, { judge: rules.judgeStarted }),
    eventOf(bodies.broken, { postings: endOfExposure, judge: rules.judgeReleased }),
    eventOf(bodies.fulfilled, { judge: rules.judgeFulfilled }),
    eventOf(bodies.allocated, {
      postings: ({ parts }) => parts.map((part) => [unearned, `Liabilities:Share:${part.account}`, part.baseUnits]),
      judge: rules.judgeAllocated,
    }),
    eventOf(bodies.failed, { postings: endOfExposure, judge: rules.judgeFailed }),
    eventOf(bodies.exhausted, { judge: rules.judgeExhausted }),
    eventOf(bodies.finalized, { postings: endOfExposure, judge: rules.judgeFinalized }),
    reversed,
    eventOf(bodies.burnReversed, {
      postings: ({ endpoint, burnedBaseUnits }) => [[burnedByCallers, burnedAt(endpoint), burnedBaseUnits]],
      judge: rules.judgeBurn,
    }),
    eventOf(bodies.burnOwedReversed, {
      postings: ({ owedBaseUnits }) => [[burnOwed, toDeliver, owedBaseUnits]],
      judge: rules.judgeBurnOwedReversed,
    }),
    eventOf(bodies.refundDue, {
      postings: (event) => [[unearned, `Liabilities:RefundsDue:${event.wallet}`, event.refundBaseUnits]],
      judge: rules.judgeRefundDue,
    }),
    ...arrivalsBy(rules.judgeReceived),
    ...depositEvents,
  ]),
}
