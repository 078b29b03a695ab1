import { assertPresent } from '@tollbook/core/assert'
import { openEodhd } from '../../src/products/stock/providers/eodhd.ts'
import { openTwelveData } from '../../src/products/stock/providers/twelveData.ts'
import { openYahoo } from '../../src/products/stock/providers/yahoo.ts'
import { openProviderFixture, type ProviderFixture } from './providerFixture.ts'

const openers = { TWELVE_DATA: openTwelveData, EODHD: openEodhd, YAHOO: openYahoo } as const

/** The prices of one provider, which has a key if it takes one. */
export function openPrices(
  name: keyof typeof openers,
  { url, apiKey = 'KEY', timeMs }: { readonly url: string; readonly apiKey?: string; readonly timeMs?: number },
): ProviderFixture & { readonly prices: NonNullable<ReturnType<typeof openYahoo>>['prices'] } {
  const fixture = openProviderFixture({ [name]: name === 'YAHOO' ? { url } : { url, apiKey } }, timeMs)
  return { ...fixture, ...assertPresent(openers[name](fixture.deps), 'it is asked') }
}
