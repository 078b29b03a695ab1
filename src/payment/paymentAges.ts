export const quoteTtlMs = 300_000

export const quoteGraceMs = 60_000

export const proofMaxAgeMs = 600_000

/** The additional hour is for callers who received the instruction to retry the same proof. */
export const settleAgeMs = proofMaxAgeMs + 60 * 60 * 1000

export const refundAfterMs = 24 * 60 * 60 * 1000
