import { assert, assertPresent } from '@tollbook/core/assert'
import { divideRoundingDown, formatDecimal } from '@tollbook/core/money'
import type { Decider, RefundApproved, RefundDebt, RefundGranted, RefundRole } from './events/refundEvents.ts'
import type { RefundEvent } from './events.ts'
import type { PaymentState } from './payment.ts'
import { type PaymentReference, signatureOf } from './paymentReference.ts'
import type { Address } from '@tollbook/core/address'
import type { Price } from '@tollbook/core/quote'

export interface RefundState {
  readonly version: number
  readonly phase: '' | 'approved' | 'granted'
}

export const noRefund: RefundState = { version: 0, phase: '' }

/** Applies an event to the state. A refund stays granted after a later approval. */
export function evolveRefund({ version, phase }: RefundState, event: RefundEvent): RefundState {
  assert(event.kind !== 'RefundGranted' || phase !== 'granted', 'a refund is granted once')
  const isGranted = event.kind === 'RefundGranted' || phase === 'granted'
  return { version: version + 1, phase: isGranted ? 'granted' : 'approved' }
}

export interface RefundDecision {
  readonly step: 'refund.approve' | 'refund.grant'
  readonly event: RefundEvent
}

/** Maximum value of one decision by each role, in millionths of a US dollar at the quoted price. */
export type RefundLimits = Readonly<Record<RefundRole, bigint>>

interface Question {
  readonly payment: PaymentReference
  readonly decider: Decider
  readonly limits: RefundLimits
  /** Undefined for tokens that were never quoted. Only finance may approve them. */
  readonly value: Pick<Price, 'priceMicroUsd' | 'requiredBaseUnits'> | undefined
}

export interface ApprovalQuestion extends Question {
  readonly wallet: Address
  readonly mint: Address
  /** Debts of the payment that are neither approved nor paid. */
  readonly debts: readonly RefundDebt[]
}

/** Approves the debts of a payment. A string is the reason why nothing can be approved. */
export function decideApproval(question: ApprovalQuestion): RefundDecision | string {
  const { payment, wallet, mint, debts, decider } = question
  if (debts.length === 0) return 'no debt of this payment waits for an approval'
  assert(
    debts.every((debt) => debt.baseUnits > 0n),
    'a debt is more than nothing',
  )
  const baseUnits = debts.reduce((sum, debt) => sum + debt.baseUnits, 0n)
  const problem = findLimitProblem(question, baseUnits) ?? findTextProblem(decider)
  if (problem !== undefined) return problem
  const event: RefundApproved = { kind: 'RefundApproved', payment, wallet, mint, debts, ...decider }
  return { step: 'refund.approve', event }
}

export interface GrantQuestion extends Omit<Question, 'value'> {
  readonly state: PaymentState
  readonly before: RefundState
  /** Undefined: the whole price. */
  readonly amountBaseUnits: bigint | undefined
}

/**
 * Grants a refund. A delivered and final payment can be refunded once, by at most its price. A string is the reason why
 * it cannot. A deposit needs an amount, because the tab also owes what was not spent.
 */
export function decideGrant(question: GrantQuestion): RefundDecision | string {
  const { payment, state, before, decider } = question
  if (state.phase !== 'fulfilled')
    return `only a delivered payment is refunded by hand; this one is ${state.phase}, and what is owed back is approved instead`
  if (!state.isFinal) return 'the chain could still drop the payment; try again in 30 s'
  if (before.phase === 'granted') return 'a refund of this payment has been granted already'
  const { wallet, price } = state.settlement
  const { mint, decimals, requiredBaseUnits } = price
  if (state.tab !== undefined && question.amountBaseUnits === undefined)
    return `the payment is a deposit, and closing the tab ${state.tab} returns its rest; state as amount the spent part to refund`
  const amountBaseUnits = question.amountBaseUnits ?? requiredBaseUnits
  if (amountBaseUnits <= 0n || amountBaseUnits > requiredBaseUnits)
    return `the amount must be more than 0 and at most the price, ${formatDecimal(requiredBaseUnits, decimals)} tokens (got ${formatDecimal(amountBaseUnits, decimals)})`
  const problem = findLimitProblem({ ...question, value: price }, amountBaseUnits) ?? findTextProblem(decider)
  if (problem !== undefined) return problem
  const event: RefundGranted = { kind: 'RefundGranted', payment, wallet, mint, amountBaseUnits, ...decider }
  return { step: 'refund.grant', event }
}

const usdDecimals = 6

function findLimitProblem({ value, limits, decider }: Question, baseUnits: bigint): string | undefined {
  const limitMicroUsd = limits[decider.role]
  if (value === undefined)
    return decider.role === 'finance' ? undefined : `tokens without a quoted price are approved by finance only`
  assert(value.requiredBaseUnits > 0n, 'a quote asks for something')
  const microUsd = divideRoundingDown(baseUnits * value.priceMicroUsd, value.requiredBaseUnits)
  if (microUsd <= limitMicroUsd) return undefined
  const usd = (amountMicroUsd: bigint) => formatDecimal(amountMicroUsd, usdDecimals)
  return `the limit of the role ${decider.role} is ${usd(limitMicroUsd)} USD, and this is ${usd(microUsd)} USD at the quoted price`
}

const byMax = 100
const reasonMax = 500

// Control characters and lone surrogates. The database may refuse them, and a terminal may interpret control characters
// as commands.
const unprintable = /[\p{Cc}\p{Cs}]/u

/**
 * Checks the texts of a decision. The database has the same lengths, but this check returns a message instead of a
 * database error.
 */
function findTextProblem({ by, reason }: Decider): string | undefined {
  if (by === '' || by.length > byMax || unprintable.test(by))
    return `the name of the decider must have 1 to ${byMax} printable characters (got ${by.length})`
  if (reason.trim() === '' || reason.length > reasonMax || unprintable.test(reason))
    return `the reason must have 1 to ${reasonMax} printable characters (got ${reason.length})`
  return undefined
}

export function refundStreamName(payment: PaymentReference): string {
  return `refund:${assertPresent(signatureOf(payment), 'a refund is of a payment on the chain')}`
}

// First byte of the stream id of a refund decision. The other bytes are those of the payment's stream id.
export const refundSpace = 4
