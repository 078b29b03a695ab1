import type { PaymentStore } from './paymentStore.ts'

export type StoredSpendings = ReturnType<typeof readStoredSpendings>

/**
 * Reads the spending of all payers of a store, in any process. Each payment reads the spending again. Payments in
 * another mint than the expected mint count no base units, because limits in base units cover one mint.
 */
export function readStoredSpendings(store: PaymentStore | undefined, expectedMint: string | undefined) {
  const own = new Set<string>()
  const read = async () =>
    ((await store?.spending()) ?? []).map(({ mint, baseUnits, ...spending }) => ({
      ...spending,
      baseUnits: expectedMint === undefined || mint === expectedMint ? baseUnits : 0n,
    }))
  return {
    /**
     * Returns the payments of other payers and of earlier processes. The budget itself counts the payments of this
     * payer.
     */
    byOthers: async () => (await read()).filter(({ signature }) => !own.has(signature)),
    /** Marks a payment as made by this payer, before it is stored. */
    markOwn: (signature: string) => void own.add(signature),
    /** Returns the payments that were stored before this one. Returns all payments if the store does not list this one. */
    async before(signature: string) {
      const spendings = await read()
      const place = spendings.findIndex((spending) => spending.signature === signature)
      return place === -1 ? spendings : spendings.slice(0, place)
    },
  }
}
