import { expect, test } from 'vitest'
import type { Presentation } from '../../../src/payment/presentations.ts'
import type { Balance } from '../../../src/payment/chainReader.ts'
import { wasShortBefore } from '../../../src/rails/solana/checkBalance.ts'
import { createFirstPresentations } from '../../../src/rails/solana/firstPresentation.ts'
import { transactionReference } from '../../../src/payment/paymentReference.ts'
import { heldClock, signatureNumber } from '../../jobs/jobFixture.ts'
import { wallet } from '../../payment/paymentStory.ts'

/* Facts that decide whether a proof is too old, or its wallet too poor. */

const presented = { reference: transactionReference(signatureNumber(1)), wallet }

test.each([
  ['here', 1_000, 5_000],
  ['at another instance', 5_000, 1_000],
])('a proof that was presented %s first counts from then', async (_, notedMs, storedMs) => {
  const bound = { lastValidHeight: 1, basis: 'first_presentation' } as const
  const stored: Presentation = { ...presented, presentedAtMs: storedMs, bound }
  const first = createFirstPresentations({
    chain: { timeMs: () => notedMs, landingBound: () => bound },
    presentations: {
      record: () => Promise.resolve(stored),
      find: () => Promise.resolve(stored),
      findPresented: () => Promise.resolve(new Set()),
    },
    onUnrecorded: () => undefined,
  })
  first.note(presented)
  expect((await first.find(presented))?.presentedAtMs).toBe(1_000)
  expect((await first.record(presented)).presentedAtMs, 'as the database has it').toBe(storedMs)
})

test('a wallet was short of tokens only if the nodes that must agree say so of the final state', async () => {
  const wasShort = (final: Balance) =>
    wasShortBefore(
      {
        clock: heldClock,
        chain: Object.assign(Object.create(null), { readBalance: () => Promise.resolve(final) }),
        choosePrice: () => Promise.reject(new Error('the price is known')),
      },
      wallet,
      { baseUnits: 3n, requiredBaseUnits: 5n, decimals: 6, slot: 9, isAgreed: true },
    )
  expect(await wasShort({ baseUnits: 4n, slot: 9, isAgreed: true })).toBe(true)
  expect(await wasShort({ baseUnits: 4n, slot: 9, isAgreed: false })).toBe(false)
  expect(await wasShort({ baseUnits: 5n, slot: 9, isAgreed: true })).toBe(false)
})
