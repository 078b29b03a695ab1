/** Validity of a quote. */
export const quoteTtlMs = 300_000

/** Grace period after the expiry of a quote, for its payment. */
export const quoteGraceMs = 60_000

/** A payment is presented for the first time within this time of landing. */
export const proofMaxAgeMs = 600_000

/** Age at which a transfer that was never presented is recorded as unmatched: an hour more, for callers told to retry the same proof. */
export const settleAgeMs = proofMaxAgeMs + 60 * 60 * 1000

/** Time without a delivery after which a final payment is owed back. */
export const refundAfterMs = 24 * 60 * 60 * 1000
