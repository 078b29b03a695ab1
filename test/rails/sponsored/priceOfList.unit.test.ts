import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import type { ListedPrice } from '@tollbook/core/quote'
import { priceOfList } from '../../../src/rails/sponsored/priceOfList.ts'

const endpoint = '/api/tools/qrcode'
const wallet = assertPresent(readAddress('11111111111111111111111111111112'), 'an address')
const landedAtMs = 1_000_000
const priceHoldMs = 60_000
const question = { order: { wallet, endpoint, digest: '' }, memo: undefined, landedAtMs, landedSlot: 1 }

function listed(priceList: number): ListedPrice {
  return {
    priceList,
    endpoint,
    priceMicroUsd: 5_000n,
    tokenPriceAttoUsd: 1_000_000_000_000_000n,
    mint: wallet,
    decimals: 6,
    requiredBaseUnits: 5_000_000n,
    burnBaseUnits: 1_500_000n,
    shares: [],
  }
}

/** The numbers of the lists in force by time, and of the current one. */
function chosenOf(
  offered: number,
  {
    current,
    inForceFrom,
    nowMs = landedAtMs,
  }: { current?: number; inForceFrom: Record<number, number>; nowMs?: number },
) {
  const findPrice = (_: string, atMs: number) => {
    const numbers = Object.entries(inForceFrom).flatMap(([number, fromMs]) => (fromMs <= atMs ? [Number(number)] : []))
    return Promise.resolve(numbers.length === 0 ? undefined : listed(Math.max(...numbers)))
  }
  return priceOfList(
    {
      ledger: { findPrice },
      currentPrice: () => (current === undefined ? undefined : listed(current)),
      findListed: (_, number) => Promise.resolve(number in inForceFrom ? listed(number) : undefined),
      priceHoldMs,
      nowMs: () => nowMs,
    },
    offered,
    question,
  )
}

test.each([
  ['the current list', 3, 3],
  ['a list that was replaced less than the hold before', 2, 2],
  ['a list that was replaced longer before', 1, 3],
  ['a list that does not exist', 9, 3],
])('an offer by %s is good for list number %#', async (_name, offered, expected) => {
  const inForceFrom = { 1: 0, 2: landedAtMs - 2 * priceHoldMs, 3: landedAtMs - priceHoldMs / 2 }
  expect(await chosenOf(offered, { current: 3, inForceFrom })).toMatchObject({ priceList: expected })
})

test.each([
  ['within the hold after the payment landed', priceHoldMs, 4],
  ['later', priceHoldMs + 1, 3],
])('a list that came into force %s is good for list number %#', async (_name, afterMs, expected) => {
  const inForceFrom = { 3: landedAtMs - 2 * priceHoldMs, 4: landedAtMs + afterMs }
  for (const nowMs of [landedAtMs + afterMs, landedAtMs + 100 * priceHoldMs])
    expect(await chosenOf(4, { current: 4, inForceFrom, nowMs })).toMatchObject({ priceList: expected })
})

test('without a price on record the outcome is unknown, and the same proof is presented again', async () => {
  await expect(chosenOf(1, { inForceFrom: {} })).rejects.toMatchObject({ retryable: true })
})
