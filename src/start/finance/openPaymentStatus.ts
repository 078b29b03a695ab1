import type { Json } from '@tollbook/core/canonicalJson'
import { readSignature } from '@tollbook/core/signature'
import { attemptsOf } from '../../diagnosis/attempts.ts'
import type { FindPaymentStatus } from '../../routes/paymentStatusRoute.ts'
import { isFinal, type PaymentState } from '../../payment/payment.ts'
import { transactionReference } from '../../payment/paymentReference.ts'
import { findReceipt, type FindReceiptDeps } from '../../paywall/findReceipt.ts'
import { refundJson } from '../../reports/refundLines.ts'
import type { OpenReports } from '../ledger/openReports.ts'

export interface FindStatusDeps extends FindReceiptDeps {
  readonly reports: Pick<OpenReports, 'facts' | 'refundsNow'>
}

/**
 * Returns a function that finds the state of a payment. It returns undefined for any wallet except the wallet that
 * paid.
 */
export function createFindPaymentStatus({ reports, ...deps }: FindStatusDeps): FindPaymentStatus {
  return async ({ signature: text, wallet }) => {
    const signature = readSignature(text)
    if (signature === undefined) return undefined
    const reference = transactionReference(signature)
    const recorded = await reports.facts.payment(reference)
    if (recorded === undefined || recorded.kind !== 'payment' || walletOf(recorded.state) !== wallet) return undefined
    const { state, events } = recorded
    const attempts = attemptsOf(events)
    const delivered = attempts.find(({ outcome }) => outcome === 'delivered')
    const found = delivered && (await findReceipt(deps, { reference, attemptId: delivered.attemptId }))
    return {
      reference,
      wallet,
      state: state.phase,
      isFinal: isFinal(state),
      endpoint: 'endpoint' in state ? state.endpoint : null,
      attempts: attempts.map((attempt): Json => ({ ...attempt })),
      receipt: found === undefined ? null : { ...found.receipt },
      refunds: await readRefunds(reports, { reference, wallet }),
    }
  }
}

/**
 * Returns the refunds of a payment. Null while the reports are behind the ledger, because a public request rolls up at
 * most one step.
 */
async function readRefunds(
  reports: FindStatusDeps['reports'],
  { reference, wallet }: { readonly reference: string; readonly wallet: string },
): Promise<Json> {
  const { position, headPosition, read } = await reports.refundsNow(wallet)
  if (position < headPosition) return null
  return read.filter((line) => line.reference === reference).map(refundJson)
}

function walletOf(state: PaymentState): string | undefined {
  if ('settlement' in state) return state.settlement.wallet
  return 'wallet' in state ? state.wallet : undefined
}
