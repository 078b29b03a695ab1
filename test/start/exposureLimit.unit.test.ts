import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { exposureLimit } from '../../src/start/jobs/exposureLimit.ts'
import { mint as token, otherWallet as dollar } from '../payment/paymentStory.ts'

const terms = {
  mint: token,
  decimals: 6,
  tokenProgram: token,
  paymentWallet: token,
  paymentTokenAccount: token,
  network: '',
}
const dollars = [{ terms: { ...terms, mint: dollar, decimals: 2 } }]
const dime = 10n ** 17n

function limitOf(maxTokens: number, exposed: readonly [Address, bigint][], prices: (bigint | undefined)[] = [dime]) {
  const known = new Map(exposed)
  return exposureLimit(maxTokens, {
    lifecycle: { exposureBaseUnits: (mint) => Promise.resolve(known.get(mint) ?? 0n) },
    terms,
    dollars,
    tokenPriceAttoUsd: () => (prices.length > 1 ? prices.shift() : prices[0]),
  })
}

test('dollars count as the tokens that they would buy, and all mints are one sum', async () => {
  // At 0.10 USD a token, 0.50 USD are 5 tokens.
  expect(
    await limitOf(10, [
      [token, 4_999_999n],
      [dollar, 50n],
    ])(),
  ).toBeUndefined()
  expect(
    await limitOf(10, [
      [token, 5_000_000n],
      [dollar, 50n],
    ])(),
  ).toContain('final')
  expect(await limitOf(10, [[dollar, 100n]])()).toContain('final')
  expect(await limitOf(0, [[dollar, 10n ** 12n]])(), '0 is off').toBeUndefined()
})

test('while the markets are silent, the last price counts', async () => {
  expect(await limitOf(10, [[dollar, 100n]], [dime, undefined])()).toContain('final')
})
