import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { silentLog } from '../../src/machine/log.ts'
import { openTabs, tabProducts, type TabsDeps } from '../../src/start/tabs/openTabs.ts'
import { sampleAddress, sampleMint, samplePrice } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'

const [tabWallet, dollar] = [sampleAddress(), sampleAddress()]
const usd = 1_000_000n

/** A service whose tabs hold 20 USD in the token and 20 USD in a dollar, both in base units of a millionth. */
async function whyNoDeposit(totalMaxUsd: bigint) {
  const config = {
    wallet: tabWallet,
    tabMaxMicroUsd: 20n * usd,
    totalMaxMicroUsd: totalMaxUsd * usd,
    bearerDayMaxMicroUsd: 0n,
  }
  const terms = { mint: sampleMint, paymentWallet: sampleAddress() }
  const deps = {
    clock: steppedClock(),
    ledger: {
      tabs: {
        totals: () => Promise.resolve({ tabs: 1, prepaidBaseUnits: 20n * usd, refundsDueBaseUnits: 0n }),
        listHolding: () => Promise.resolve([]),
      },
      settings: { origin: 'tollbook/test', tabWallets: () => [tabWallet] },
      upkeep: { readDatabaseClockMs: () => Promise.resolve(0) },
    },
    chain: {
      terms,
      dollars: [{ terms: { ...terms, mint: dollar } }],
      reader: { readBalance: () => Promise.resolve({ baseUnits: 20n * usd, slot: 1, isAgreed: true }) },
    },
  }
  // Tabs read only these members of the ledger and the chain until a caller asks for one.
  const tabs = openTabs(config, deps as unknown as TabsDeps)
  const ends = await tabs.startEnds({ log: silentLog, slot: () => 1 })
  const currentPrice = (endpoint: string, mint: Address = sampleMint) => {
    return { ...samplePrice(endpoint, usd), priceMicroUsd: usd, mint, priceList: 1 }
  }
  const [endpoint] = tabs.open(tabProducts(config), { currentPrice })
  const order = endpoint?.read({ depositUsd: 1, sessionKey: sampleAddress() })
  await ends.close()
  return order?.ok === true ? order.whyUnavailable() : order
}

test('the limit of all tabs together counts what they hold in every mint', async () => {
  expect(await whyNoDeposit(41n)).toBeUndefined()
  expect(await whyNoDeposit(40n)).toBe('all tabs together hold as much as this service permits')
})
