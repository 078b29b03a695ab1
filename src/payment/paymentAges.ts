export const quoteTtlMs = 300_000

export const quoteGraceMs = 60_000

export const proofMaxAgeMs = 600_000

/**
 * Age at which a transfer that was never presented is recorded as unmatched. The additional hour is for callers who
 * were instructed to retry the same proof.
 */
export const settleAgeMs = proofMaxAgeMs + 60 * 60 * 1000

/** A final payment without a delivery is owed back after this time. */
export const refundAfterMs = 24 * 60 * 60 * 1000
