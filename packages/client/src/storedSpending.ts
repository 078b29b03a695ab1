import type { PaymentStore } from './paymentStore.ts'

export type StoredSpendings = ReturnType<typeof readStoredSpendings>

/**
 * Reads again for each payment, because other processes add to the store. Payments in another mint than the expected
 * mint count no base units, because limits in base units cover one mint.
 */
export function readStoredSpendings(store: PaymentStore | undefined, expectedMint: string | undefined) {
  const own = new Set<string>()
  const read = async () =>
    ((await store?.spending()) ?? []).map(({ mint, baseUnits, ...spending }) => ({
      ...spending,
      baseUnits: expectedMint === undefined || mint === expectedMint ? baseUnits : 0n,
    }))
  return {
    /** Omits the payments of this payer, because the budget counts them. */
    byOthers: async () => (await read()).filter(({ signature }) => !own.has(signature)),
    /** Call it before the payment is stored, or the payment counts twice. */
    markOwn: (signature: string) => void own.add(signature),
    /** Returns the payments that were stored before this payment, or all stored payments if the store does not list it. */
    async before(signature: string) {
      const spendings = await read()
      const place = spendings.findIndex((spending) => spending.signature === signature)
      return place === -1 ? spendings : spendings.slice(0, place)
    },
  }
}
