import type { PaymentStore } from './paymentStore.ts'

export type StoredSpendings = ReturnType<typeof readStoredSpendings>

/**
 * Spending of all payers of a store, in this process or another. Each payment reads it again. A limit in base units
 * counts only payments in the expected mint.
 */
export function readStoredSpendings(store: PaymentStore | undefined, expectedMint: string | undefined) {
  const own = new Set<string>()
  const read = async () =>
    ((await store?.spending()) ?? []).map(({ mint, baseUnits, ...spending }) => ({
      ...spending,
      baseUnits: expectedMint === undefined || mint === expectedMint ? baseUnits : 0n,
    }))
  return {
    /** Payments of other payers and of earlier processes. The budget counts those of this payer. */
    byOthers: async () => (await read()).filter(({ signature }) => !own.has(signature)),
    /** Marks a payment as this payer's, before it is stored. */
    claim: (signature: string) => void own.add(signature),
    /** Payments stored before this one. All others if the store does not list it. */
    async before(signature: string) {
      const spendings = await read()
      const place = spendings.findIndex((spending) => spending.signature === signature)
      return place === -1 ? spendings : spendings.slice(0, place)
    },
  }
}
