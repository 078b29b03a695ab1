export const quoteTtlMs = 300_000

export const quoteGraceMs = 60_000

export const proofMaxAgeMs = 600_000

/**
 * Age at which a transfer that was never presented is recorded as unmatched. The additional hour is for callers who
 * received the instruction to retry the same proof.
 */
export const settleAgeMs = proofMaxAgeMs + 60 * 60 * 1000

/** Time without a delivery after which a final payment is owed back, in milliseconds. */
export const refundAfterMs = 24 * 60 * 60 * 1000
