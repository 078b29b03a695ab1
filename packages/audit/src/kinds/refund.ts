import { z } from 'zod'
import { base58 } from '@scure/base'
import { baseUnits } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { refundStreamOf } from '../streamName.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'

/*
 * Stream kind for the decisions of people to refund a payment to the wallet that paid. A refund can be granted once for
 * each payment, up to the price.
 */

const text = z.string()
// Do not check who decided and why, because these members move no money and nothing else in the ledger depends on them.
const decision = { by: text, login: text, reason: text, role: text, payment: text, wallet: text, mint: text }

const approved = bodyOf('RefundApproved', {
  ...decision,
  debts: z.array(z.strictObject({ account: text, baseUnits })),
})
const granted = bodyOf('RefundGranted', { ...decision, amountBaseUnits: baseUnits })

const approve = { step: 'refund.approve', events: ['RefundApproved'], writer: 'finance' } as const
const grant = {
  step: 'refund.grant',
  to: 'granted',
  events: ['RefundGranted'],
  moves: ['granted>refund'],
  writer: 'finance',
} as const

export const refund: AuditedKind = {
  kind: 'refund',
  space: 4,
  idBytes: 64,
  idPrefix: '',
  isSetting: false,
  nameOf: (key) => `refund:${base58.encode(key)}`,
  // No step leads from `granted` to another grant, so each payment has at most one granted refund.
  steps: [
    declareStep({ ...approve, to: 'approved' }),
    declareStep({ ...approve, from: 'approved', to: 'approved' }),
    declareStep({ ...approve, from: 'granted', to: 'granted' }),
    declareStep(grant),
    declareStep({ ...grant, from: 'approved' }),
  ],
  events: new Map([
    eventOf(approved, { judge: judgeApproved }),
    eventOf(granted, {
      postings: ({ wallet, amountBaseUnits }) => [
        ['Expenses:RefundsGranted', `Liabilities:RefundsDue:${wallet}`, amountBaseUnits],
      ],
      judge: judgeGranted,
    }),
  ]),
}

type Decision = z.output<typeof approved> | z.output<typeof granted>

/** Returns the payment of the decision. Reports a finding and returns undefined if no earlier event has the payment. */
function findPayment({ stream, payment: name }: Decision, { blame, ledger }: Judged) {
  if (stream !== refundStreamOf(name)) blame('lifecycle_impossible', `the decision is about ${name}`)
  const payment = ledger.streams.find(name)
  if (payment?.kind === 'payment') return payment
  blame('lifecycle_impossible', `the ledger has no payment ${name}`)
  return undefined
}

function judgeApproved(event: z.output<typeof approved>, at: Judged): void {
  const { wallet, debts } = event
  if (findPayment(event, at) === undefined) return
  const own = new Set(['Overpaid', 'RefundsDue', 'Unmatched'].map((debt) => `Liabilities:${debt}:${wallet}`))
  for (const { account } of debts)
    if (!own.has(account)) at.blame('owner_differs', `the debt is not owed to ${wallet}`, account)
}

function judgeGranted(event: z.output<typeof granted>, at: Judged): void {
  const { wallet, mint, amountBaseUnits, payment: name } = event
  const payment = findPayment(event, at)
  if (payment === undefined) return
  if (payment.wallet !== wallet) at.blame('owner_differs', `${wallet} did not pay ${name}`)
  if (payment.mint !== mint) at.blame('owner_differs', 'another mint was paid')
  if (payment.state !== 'fulfilled.final') at.blame('lifecycle_impossible', `the payment is ${payment.state}`)
  if (amountBaseUnits === 0n || amountBaseUnits > payment.requiredBaseUnits)
    at.blame('refund_differs', `${amountBaseUnits} are refunded of a price of ${payment.requiredBaseUnits}`)
}
