/** Decisions that fit the state of a payment: the name of each, and its words. The service judges them again, with the role of the token. */
export function decisionsFor({ code, booking }, refunds) {
  const isDue = refunds.some(({ state }) => state === 'due')
  // A delivered answer is refunded once.
  const mayGrant = code === 'delivered' && !refunds.some(({ cause }) => cause === 'granted')
  return [
    ...(booking === null ? [] : [['record', booking.words]]),
    ...(isDue ? [['approve', 'Approve the debts of this payment.']] : []),
    ...(mayGrant ? [['grant', 'Refund the whole price of this answer.']] : []),
  ]
}
