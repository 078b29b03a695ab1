import type { FindingCode, Findings } from './findings.ts'
import type { OtherStreams } from './otherStreams.ts'
import type { Recorded } from './paymentRules.ts'
import { type AuditedPayment, stateOf } from './paymentTable.ts'
import type { RefundEvent } from './refundEvents.ts'
import { refundStreamOf } from './streamName.ts'

export interface RefundDeps {
  readonly findings: Findings
  readonly streams: OtherStreams
  /** Undefined for a payment that the ledger does not have at this position. */
  readonly findPayment: (stream: string) => AuditedPayment | undefined
  /** Digest of a wallet's address, as the payment has it. */
  readonly digestOf: (wallet: string) => number
}

/** Decisions about refunds: of payments on record, to their own wallet, and by hand once and up to the price. */
export class Refunds {
  readonly #deps: RefundDeps

  constructor(deps: RefundDeps) {
    this.#deps = deps
  }

  /** After its postings have been entered. */
  judge(event: RefundEvent, recorded: Recorded): void {
    const { findings, streams, findPayment, digestOf } = this.#deps
    const { stream, payment: name, wallet } = event
    const blame = (code: FindingCode, message: string, subject = stream): void => {
      findings.add(code, { position: recorded.position, subject, message })
    }
    const state = streams.find(stream)?.state ?? ''
    streams.advance(event, recorded, stepOf(event, state))
    if (stream !== refundStreamOf(name)) blame('lifecycle_impossible', `the decision is about ${name}`)
    const payment = findPayment(name)
    if (payment === undefined) return blame('lifecycle_impossible', `the ledger has no payment ${name}`)
    if (event.kind === 'RefundApproved') {
      for (const { account } of event.debts) {
        if (!debtsOf(wallet).includes(account)) blame('owner_differs', `the debt is not owed to ${wallet}`, account)
      }
      return
    }
    if (payment.walletDigest !== digestOf(wallet)) blame('owner_differs', `${wallet} did not pay ${name}`)
    if (stateOf(payment) !== 'fulfilled.final') blame('lifecycle_impossible', `the payment is ${stateOf(payment)}`)
    const { amountBaseUnits } = event
    if (amountBaseUnits === 0n || amountBaseUnits > payment.requiredBaseUnits)
      blame('refund_differs', `${amountBaseUnits} are refunded of a price of ${payment.requiredBaseUnits}`)
  }
}

function debtsOf(wallet: string): readonly string[] {
  return ['Overpaid', 'RefundsDue', 'Unmatched'].map((debt) => `Liabilities:${debt}:${wallet}`)
}

function stepOf({ kind }: RefundEvent, state: string) {
  if (kind === 'RefundApproved')
    return { kind: 'refund', from: state, to: state === 'granted' ? 'granted' : 'approved' }
  return { kind: 'refund', from: state === 'approved' ? 'approved' : '', to: 'granted' }
}
