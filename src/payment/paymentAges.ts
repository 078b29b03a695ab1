/** Time without a delivery after which a final payment is owed back. */
export const refundAfterMs = 24 * 60 * 60 * 1000

/** Grace period beyond the age of a proof, for callers told to retry the same proof. */
export const settleMarginMs = 60 * 60 * 1000
