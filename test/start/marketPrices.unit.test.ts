import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { openMarketPrices } from '../../src/start/products/marketPrices.ts'
import { readConfig } from '../../src/config.ts'
import { mint as token, otherWallet, wallet as dollar } from '../payment/paymentStory.ts'
import { samplePrice } from '../store/samplePayment.ts'
import { openMarketServers } from '../support/marketServers.ts'
import { openProviderFixture } from '../support/providerFixture.ts'
import { steppedClock } from '../support/steppedClock.ts'

const markets = await openMarketServers('0.001')

test('a price that follows the markets is given in the mint that is asked for, and in no other', async () => {
  const { deps } = openProviderFixture(readConfig(markets.env).providers.upstreams)
  const terms = { decimals: 6, tokenProgram: token, paymentWallet: token, paymentTokenAccount: token, network: '' }
  const inToken = { ...samplePrice(), mint: token }
  const inDollars = { ...samplePrice(), mint: dollar, requiredBaseUnits: 20_000n }
  const prices = await openMarketPrices(readConfig(markets.env).prices, {
    clock: steppedClock(),
    log: silentLog,
    terms: { ...terms, mint: token },
    upstreams: { access: deps },
    pricesAt: () => [inToken, inDollars],
    listed: { split: defaultSplit },
    priceLists: {
      newest: () => Promise.resolve(undefined),
      append: () => Promise.resolve(true),
      publish: () => Promise.reject(new Error('the markets publish')),
    },
  })
  const { endpoint } = inToken
  expect(prices.currentPrice(endpoint, dollar)).toMatchObject({ mint: dollar, requiredBaseUnits: 20_000n })
  expect(prices.currentPrice(endpoint)).toMatchObject({ mint: token, requiredBaseUnits: inToken.requiredBaseUnits })
  expect(prices.currentPrice(endpoint, otherWallet)).toBeUndefined()
  await prices.close()
})
