import { assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { readAddress } from '@tollbook/core/address'
import { larger } from '@tollbook/core/money'
import type { ChainReader } from '../payment/chainReader.ts'
import type { RefundRole } from '../payment/events/refundEvents.ts'
import { decideRefund, decideUnmatched, mintOf } from '../payment/finality.ts'
import { type PaymentDecision, type PaymentState, unknownPayment } from '../payment/payment.ts'
import { type PaymentReference, requireSignature, signatureOf } from '../payment/paymentReference.ts'
import {
  decideApproval,
  decideGrant,
  type RefundDecision,
  type RefundLimits,
  type RefundState,
} from '../payment/refundDecision.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { PaymentFacts } from '../reports/paymentFacts.ts'
import type { RefundLine } from '../reports/refundLines.ts'
import type { RefundStore } from '../store/refundStore.ts'
import { arrivedBaseUnits, senderTo, termsOfOneMint } from './transferFacts.ts'

export interface DecisionDeps {
  readonly clock: Clock
  readonly facts: Pick<PaymentFacts, 'payment'>
  readonly store: RefundStore
  readonly refundsOf: (wallet: string) => Promise<readonly RefundLine[]>
  /** Reader of the chain. A text says why the chain is unavailable. */
  readonly chain: Pick<ChainReader, 'find'> | string
  readonly allTerms: () => readonly PaymentTerms[]
  readonly limits: RefundLimits
}

export interface RefundOrder {
  readonly action: RefundAction
  readonly reference: PaymentReference
  readonly by: string
  readonly role: RefundRole
  readonly reason: string
  /** Amount of a grant in base units. Undefined: the whole price. */
  readonly amountBaseUnits: bigint | undefined
}

/**
 * Actions of a decision. `approve` confirms a debt on record. `grant` returns the price of a delivered answer. `record`
 * records now what the service would record later.
 */
export const refundActions = ['approve', 'grant', 'record'] as const
export type RefundAction = (typeof refundActions)[number]

/** `why` is a text for the person who made the decision. */
export type RefundOutcome =
  | { readonly recorded: true; readonly position: number; readonly leafHash: string; readonly event: string }
  | { readonly recorded: false; readonly why: string }

// Maximum number of attempts. If another person decides about the same payment at the same time, the decision is made
// again.
const triesMax = 3

/**
 * Records a decision about a refund. If it is refused, returns why. No debt is paid here, because `tollbook payout`
 * pays debts.
 */
export async function decideAndRecord(deps: DecisionDeps, order: RefundOrder): Promise<RefundOutcome> {
  if (signatureOf(order.reference) === undefined)
    return refused('a tab paid for this request, and only payments on the chain are refunded')
  for (let tries = 1; tries <= triesMax; tries++) {
    const outcome = await actions[order.action](deps, order)
    if (outcome !== undefined) return outcome
  }
  throw new Fault('other decisions about this payment are being recorded; do the same again', { retryable: true })
}

type Act = (deps: DecisionDeps, order: RefundOrder) => Promise<RefundOutcome | undefined>

const actions: Readonly<Record<RefundAction, Act>> = { approve, grant, record: recordNow }

async function approve(deps: DecisionDeps, order: RefundOrder): Promise<RefundOutcome | undefined> {
  const { reference } = order
  const recorded = await deps.facts.payment(reference)
  if (recorded === undefined || recorded.kind !== 'payment')
    return refused('the ledger has no such payment; record a transfer that was never presented first')
  const { state } = recorded
  const [wallet, mint] = [walletOf(state), mintOf(state)]
  if (wallet === undefined || mint === undefined)
    return refused('no tokens of this payment arrived from a wallet that could be paid back')
  // Read the version before the debts. If an approval is recorded in between, it changes the version, and the decision
  // is made again.
  const before = await deps.store.read(reference)
  const debts = (await deps.refundsOf(wallet))
    .filter((line) => line.reference === reference)
    .map(({ account, owedBaseUnits, approvedBaseUnits, paidBaseUnits }) => {
      const settledBaseUnits = larger(approvedBaseUnits, paidBaseUnits)
      return { account, baseUnits: owedBaseUnits - settledBaseUnits }
    })
    .filter(({ baseUnits }) => baseUnits > 0n)
  const decision = decideApproval({
    payment: reference,
    wallet,
    mint,
    debts,
    ...(await deciderOf(deps, order)),
    value: 'settlement' in state ? state.settlement.price : undefined,
  })
  return record(deps, decision, before)
}

async function grant(deps: DecisionDeps, order: RefundOrder): Promise<RefundOutcome | undefined> {
  const { reference: payment, amountBaseUnits } = order
  const state = (await deps.facts.payment(payment))?.state ?? unknownPayment
  const before = await deps.store.read(payment)
  const decision = decideGrant({ payment, state, before, amountBaseUnits, ...(await deciderOf(deps, order)) })
  return record(deps, decision, before)
}

async function record(
  { store }: DecisionDeps,
  decision: RefundDecision | string,
  before: RefundState,
): Promise<RefundOutcome | undefined> {
  if (typeof decision === 'string') return refused(decision)
  const done = await store.record(decision, before)
  return done === undefined ? undefined : { recorded: true, ...done, event: decision.event.kind }
}

/**
 * Records a transfer or a refund that is due. Only the role finance may do this, because the record ends a payment that
 * could still buy an answer.
 */
async function recordNow(deps: DecisionDeps, order: RefundOrder): Promise<RefundOutcome | undefined> {
  if (order.role !== 'finance') return refused('only the role finance records transfers and refunds that are due')
  const { reference } = order
  const recorded = await deps.facts.payment(reference)
  if (recorded !== undefined && recorded.kind !== 'payment')
    return refused(`the transaction is a ${recorded.kind} of ours`)
  const before = recorded?.state ?? unknownPayment
  const decision = before.phase === 'released' ? decideRefund(before) : await decideTransfer(deps, reference, before)
  if (typeof decision === 'string') return refused(decision)
  if (decision === undefined) return refused(`a payment that is ${before.phase} has nothing to record`)
  const debt = debtOf(decision)
  if (debt === undefined) return refused('the tokens have no sender that could be paid back')
  const refund = await deps.store.read(reference)
  const approval = decideApproval({
    payment: reference,
    ...debt,
    ...(await deciderOf(deps, order)),
    value: 'settlement' in before ? before.settlement.price : undefined,
  })
  if (typeof approval === 'string') return refused(approval)
  const nowMs = deps.clock.nowMs()
  const done = await deps.store.recordBooking({ reference, before, decision, approval, refund, nowMs })
  return done === undefined ? undefined : { recorded: true, ...done, event: decision.events[0]?.kind ?? '' }
}

/**
 * Decides about the transfer in the finalized chain. Returns a text with the reason if nothing is recorded, or
 * undefined if the state of the payment permits no decision.
 */
async function decideTransfer(
  { chain, allTerms }: DecisionDeps,
  reference: PaymentReference,
  before: PaymentState,
): Promise<PaymentDecision | string | undefined> {
  if (before.phase !== 'unknown' && before.phase !== 'submitted' && before.phase !== 'reversed') return undefined
  if (typeof chain === 'string') return `the chain cannot be asked: ${chain}`
  const finding = await chain.find(requireSignature(reference), { commitment: 'finalized' })
  if (finding.kind !== 'found') return 'the finalized chain does not have the transaction (yet); try again in 30 s'
  const { record } = finding
  const wallets = termsOfOneMint(allTerms(), record)
  const receivedBaseUnits = record.failure === undefined ? arrivedBaseUnits(record, wallets) : 0n
  if (receivedBaseUnits <= 0n) return 'no token of ours arrived in a payment wallet by this transaction'
  const mint = assertPresent(wallets[0], 'there is a payment wallet').mint
  const wallet = senderTo(record, wallets)
  return decideUnmatched(before, { wallet, mint, receivedBaseUnits, slot: record.slot })
}

function debtOf({ events: [event] }: PaymentDecision) {
  if (event?.kind === 'RefundDue') {
    const { wallet, mint, refundBaseUnits } = event
    return { wallet, mint, debts: [{ account: `Liabilities:RefundsDue:${wallet}`, baseUnits: refundBaseUnits }] }
  }
  if (event?.kind !== 'TransferReceived' || event.wallet === undefined) return undefined
  const { wallet, mint, receivedBaseUnits } = event
  return { wallet, mint, debts: [{ account: `Liabilities:Unmatched:${wallet}`, baseUnits: receivedBaseUnits }] }
}

async function deciderOf({ store, limits }: DecisionDeps, { by, role, reason }: RefundOrder) {
  return { limits, decider: { by, role, reason, login: await store.login() } }
}

function walletOf(state: PaymentState) {
  if ('settlement' in state) return state.settlement.wallet
  return 'wallet' in state && state.wallet !== undefined ? readAddress(state.wallet) : undefined
}

function refused(why: string): RefundOutcome {
  return { recorded: false, why }
}
