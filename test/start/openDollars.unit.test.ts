import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import type { Dollar } from '../../src/payment/dollar.ts'
import { depositSplit } from '../../src/payment/tabSettlement.ts'
import { split } from '../../src/pricing/split.ts'
import { openDollars } from '../../src/start/payments/openDollars.ts'
import { mint as token, otherWallet, wallet } from '../payment/paymentStory.ts'
import { samplePrice } from '../store/samplePayment.ts'

const terms = { decimals: 6, tokenProgram: token, paymentWallet: token, paymentTokenAccount: token, network: '' }
const dollarOf = (symbol: string, mint: typeof token, burn: Dollar['burn']): Dollar => {
  return { symbol, burn, minimumMicroUsd: 10_000n, rails: ['x402'], terms: { ...terms, mint } }
}
const [burned, unburned] = [dollarOf('USDC', wallet, 'token'), dollarOf('XUSD', otherWallet, 'none')]
const priceIn = (mint: typeof token, burnBaseUnits?: bigint) => {
  const tokenBurn = burnBaseUnits === undefined ? {} : { tokenBurn: { mint: token, baseUnits: burnBaseUnits } }
  return { ...samplePrice(), mint, priceList: 1, ...tokenBurn }
}

/** Two dollars while the treasury owes `owedTokens` and may owe ten. */
function open(owedTokens: bigint, offMint?: string) {
  const dollars = openDollars(
    { accepted: [], burnDebtMaxTokens: 10, treasuryWallet: undefined },
    {
      clock: systemClock,
      dollars: [burned, unburned],
      token: { mint: token, decimals: 6 },
      currentPrice: (_endpoint, mint) => (mint === wallet ? priceIn(wallet, 3_000_000n) : priceIn(otherWallet)),
      whyOff: (mint) => (mint === offMint ? 'its account is frozen' : undefined),
      whyNoDeposit: () => undefined,
      // The burns of all dollars are owed in the token.
      lifecycle: { undeliveredBaseUnits: (mint) => Promise.resolve(mint === token ? owedTokens * 1_000_000n : 0n) },
    },
  )
  if (dollars === undefined) throw new Error('dollars are accepted')
  return dollars
}

const offeredMints = async (dollars: ReturnType<typeof open>, rail = 'x402') =>
  (await dollars.offers('/api/data/weather', rail)).map(({ terms: { mint } }) => mint)

test('a dollar is offered while the burn of the sale itself fits the debt that the treasury may have', async () => {
  expect(await offeredMints(open(7n))).toEqual([wallet, otherWallet])
  expect(await offeredMints(open(8n)), 'eight owed and three promised are more than ten').toEqual([otherWallet])
  expect(await offeredMints(open(0n), 'mpp')).toEqual([])
})

test('a price below the minimum of a dollar is closed, and each dollar is off by itself', async () => {
  const dollars = open(0n, otherWallet)
  const small = { ...priceIn(wallet), priceMicroUsd: 9_999n }
  expect(await dollars.whyClosed(small)).toBe('a payment in USDC has a smallest price of 0.01 USD; pay in the token')
  expect(await dollars.whyClosed({ ...small, priceMicroUsd: 10_000n })).toBeUndefined()
  expect(await dollars.whyClosed(priceIn(otherWallet))).toBe('its account is frozen; pay in the token')
  expect(await offeredMints(dollars)).toEqual([wallet])
})

test('a deposit is closed while the treasury owes all the tokens that it may, unless its dollar burns nothing', async () => {
  const depositIn = (mint: typeof token) => ({ ...priceIn(mint), ...split(10_000n, depositSplit) })
  const full = open(10n)
  expect(await open(9n).whyClosed(depositIn(wallet))).toBeUndefined()
  expect(await full.whyClosed(depositIn(wallet))).toMatch(/^payments in dollars wait until/)
  expect(await full.whyClosed(depositIn(otherWallet))).toBeUndefined()
})
