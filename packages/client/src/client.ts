/**
 * The public interface of @tollbook/client for every JavaScript engine. The public interface for Node.js is in
 * `node.ts`. Everything else in this package may change without notice.
 */
export { createPayingFetch, type PayingFetch, type ResumeOptions } from './payingFetch.ts'
export type { PayingFetchOptions, TabOption } from './payer.ts'
export type { ClosedTab, PayingTabs, TabState } from './tab/manageTab.ts'
export { keypairWallet, type PayerWallet } from './payerWallet.ts'
export type { SecretKey } from './solana/keypair.ts'
export { standardWallet, type StandardWalletOptions } from './standardWallet.ts'
export {
  type Ceiling,
  type Cost,
  type SpendingLimit,
  SpendingLimitExceeded,
  type SpendingScope,
} from './spendingLimit.ts'
export type { PaymentOutcome, PaymentStore, PaymentTurn, StoredSpending } from './paymentStore.ts'
export type { PaymentProgress } from './paymentProgress.ts'
export { PaymentError, PaymentNotSent, PaymentRefused, PaymentUnresolved, PaymentUnspent } from './paymentError.ts'
export { type ErrorCode, InvalidOption, PayerFault } from './errorCode.ts'
export { InsufficientFunds } from './insufficientFunds.ts'
export { type QuoteProblem, type QuoteProblemKind, QuoteRefused } from './quoteProblem.ts'
export { type PendingPayment, readPendingPayment } from './pendingPayment.ts'
export { readReceiptHeader } from './receiptHeader.ts'
export { type ReceiptProblem, type ReceiptVerdict, type VerifiedReceipt, verifyReceipt } from './verifyReceipt.ts'
export { type ClosingProblem, type ClosingVerdict, verifyClosing } from './verifyClosing.ts'
export { type InclusionProblem, type InclusionVerdict, verifyInclusion } from './verifyInclusion.ts'
export { type ProofForm, encodeProof } from './encodeProof.ts'
export type { SponsoredProtocol } from './sponsored/sponsoredOffer.ts'
