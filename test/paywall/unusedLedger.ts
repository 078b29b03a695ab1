import type { PaymentLedger } from '../../src/payment/paymentLedger.ts'

export const unused = () => Promise.reject(new Error('not part of a claim'))

/** The operations of a ledger that a claim does not need. */
export const unusedLedger: Omit<PaymentLedger, 'append' | 'lookUp'> = {
  listUnreceived: unused,
  markSent: () => undefined,
  findDelivery: unused,
  recordQuote: unused,
  findOpenQuote: unused,
  findRecentOpenQuote: () => undefined,
  findBoundQuote: unused,
  findPrice: unused,
}
