/**
 * A refusal is an expected rejection, so it is returned and not thrown. Each code needs a status and a text: otherwise
 * the maps of all codes do not compile.
 */
export type RefusalCode =
  /** A limit of requests, quotes or unknown proofs is reached. Wait for `retryAfterSeconds`. */
  | 'RATE_LIMITED'
  | 'NO_WALLET'
  /** A parameter is wrong. `details` lists the fields. */
  | 'INVALID_REQUEST'
  /** The product cannot be sold or delivered now. */
  | 'ENDPOINT_UNAVAILABLE'
  /** The proof buys nothing. `reason` states the cause. */
  | 'INVALID_PAYMENT'
  /** The wallet or the tab has fewer tokens than the price. */
  | 'INSUFFICIENT_BALANCE'
  | 'PAYMENT_IN_PROGRESS'
  /** The outcome of the payment is unknown. Repeat the request with the same proof. Do not pay again. */
  | 'PAYMENT_PENDING'
  /** The idempotency key belongs to another request or payment of this wallet. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** The debit number belongs to another request of the tab. */
  | 'TAB_NUMBER_USED'
  /** There is nothing to deliver for this request. */
  | 'NO_DATA'
  /** No provider returned a usable answer. */
  | 'UPSTREAM_FAILED'
  /** The providers did not answer in time. */
  | 'UPSTREAM_TIMEOUT'
  /** The target is in a private network, or its port or scheme is not allowed. */
  | 'TARGET_FORBIDDEN'

/** Reasons why a proof buys nothing. Each text states what to do, because it is often read only in a program's log. */
export const invalidPaymentReasons = {
  malformed_proof:
    'x-payment-proof is not the canonical padded base64 of a signature, a signed transaction, or {signature|transaction, secret}',
  malformed_payload:
    'PAYMENT-SIGNATURE is not the base64 of an x402 payment by version 2 that echoes the whole offer of the 402',
  malformed_credential:
    'Authorization is not the base64url of an MPP credential that echoes the challenge and carries a signed transaction',
  challenge_invalid: 'the challenge of the credential is not one of this service for this request; request a new one',
  challenge_expired: 'the challenge of the credential has expired, and nothing was sent; request a new one',
  not_sponsored: 'the service does not pay the network fee of this transaction',
  not_found:
    'the transaction is not on chain at the required commitment yet; send the same proof again, do not pay again',
  transaction_failed: 'the transaction failed on chain and moved no tokens; make a new payment',
  wallet_did_not_sign: 'the wallet in x-wallet-address did not sign the transaction',
  burn_insufficient:
    'the wallet, as owner and authority of its own token account, burned less of the service token than the quote asks',
  transfer_insufficient: 'less of the service token arrived from the wallet in the payment wallet than the quote asks',
  supply_increased: 'the transaction mints the service token, so its burn proves nothing',
  burn_not_conserved: 'the token balances of the transaction do not fall by what it claims to burn',
  landed_before_quote: 'the transaction landed before the quote that it names was made',
  too_old: 'the payment landed too long ago to be presented for the first time',
  secret_required:
    'the transaction is bound to a quote by its memo and buys only together with the secret of that quote',
  secret_mismatch: 'the secret is not the one behind the tollbook: memo of the transaction',
  memo_missing: 'a secret was presented, but the transaction has no tollbook: memo',
  memo_ambiguous: 'the transaction has more than one tollbook: memo',
  quote_unknown: 'no quote for this wallet and endpoint has the memo of the transaction',
  already_used: 'this payment has already bought an answer',
  attempts_exhausted:
    'every permitted attempt with this payment failed, so it no longer buys; what was received for it is owed back to the wallet as soon as the payment is final',
  refund_due:
    'nothing could be delivered for this payment for a day or in the permitted attempts, so it no longer buys; what was received for it is owed back to the wallet and will be paid out',
  payment_reversed:
    'the chain has dropped the block of this payment, and it moved no tokens in the end; make a new payment',
  other_wallet: 'this payment belongs to another wallet',
  other_endpoint: 'this payment was claimed for another endpoint and stays bound to it',
  signature_invalid: 'the transaction is not fully and correctly signed',
  durable_nonce: 'a transaction with a durable nonce is taken only after it has landed, as a signature',
  blockhash_expired:
    'the transaction has not landed and never will, because its blockhash has expired; make a new payment',
  simulation_failed: 'the transaction would fail on chain, so it was not sent',
  deposit_not_bound:
    'a deposit must carry the memo of its quote, because a plain transaction is public; what was sent is owed back to the wallet',
  tab_unknown: 'no deposit on record opened this tab',
  tab_closed: 'the tab is closed; its rest is owed to the wallet that paid. Open another tab',
  tab_key_replaced: 'the wallet has replaced the keys of the tab since this debit was verified; sign with the new key',
  tab_signature_invalid: 'the signature is not one of the session key of the tab over this debit and this request',
  tab_debit_expired: 'the time of the debit is over, or more than 10 minutes ahead; sign a new one',
  tab_limit: 'the request costs more than the tab permits; send a request that costs less',
  tab_number_exhausted: 'every permitted attempt with this number failed, and nothing was charged; use a new number',
} as const satisfies Record<string, string>

export type InvalidPaymentReason = keyof typeof invalidPaymentReasons

/** Failures outside the program are thrown as `Fault` instead. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly code: RefusalCode
  readonly message: string
  readonly reason?: InvalidPaymentReason
  readonly details?: readonly FieldProblem[]
  readonly retryAfterSeconds?: number
}

export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** Pass `retryAfterSeconds`, which becomes the Retry-After header, only if waiting helps. */
export function refuse(code: RefusalCode, message: string, retryAfterSeconds?: number): Refusal {
  return { kind: 'refusal', code, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
}

export function refuseNumberUsed(): Refusal {
  return refuse('TAB_NUMBER_USED', 'this number of the tab belongs to another request; use a new number')
}

export function refuseField(field: string, message: string): Refusal {
  return { kind: 'refusal', code: 'INVALID_REQUEST', message: `${field}: ${message}`, details: [{ field, message }] }
}

/**
 * `blockhash_expired` is excluded, because it needs evidence (src/payment/absence.ts). `not_found` has a time to retry,
 * because the payment may still land.
 */
export function refuseProof(reason: Exclude<InvalidPaymentReason, 'blockhash_expired'>, more?: string): Refusal {
  const message = more === undefined ? invalidPaymentReasons[reason] : `${invalidPaymentReasons[reason]} (${more})`
  return {
    kind: 'refusal',
    code: 'INVALID_PAYMENT',
    reason,
    message,
    ...(reason === 'not_found' ? { retryAfterSeconds: 2 } : {}),
  }
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'refusal'
}
