import type { Signing, SigningJournal } from '../../src/signer/signingJournal.ts'

/** A journal without rules and budgets, which are in the database (test/signer/signatures.pg.test.ts). */
export function openMemoryJournal(): { readonly entries: readonly Signing[]; readonly journal: SigningJournal } {
  const entries: Signing[] = []
  const journal: SigningJournal = {
    find: ({ digest }) => {
      const signature = entries.find((entry) => entry.digest === digest)?.signature
      return Promise.resolve({ signature, asOf: '2026-11-26T00:00:00.000000Z' })
    },
    record: (entry) => {
      if (!entries.some(({ digest }) => digest === entry.digest)) entries.push(entry)
      return Promise.resolve(undefined)
    },
    recordOutcome: () => Promise.resolve(),
    spentToday: () => Promise.resolve(0n),
  }
  return { entries, journal }
}
