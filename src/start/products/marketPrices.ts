import type { PriceConfig } from '../../config/priceConfig.ts'
import { createDexscreener } from '../../market/dexscreener.ts'
import { createGeckoterminal } from '../../market/geckoterminal.ts'
import { createJupiter } from '../../market/jupiter.ts'
import type { Market, PricedToken } from '../../market/marketPrice.ts'
import { type PriceSource, startPriceJob } from '../../jobs/priceJob.ts'
import { UpstreamFailure } from '../../product/upstreamFailure.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import type { MarketReading } from '../../pricing/agreement.ts'
import { tokenPriceDecimals } from '../../pricing/tokenPrice.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { displayNumber } from '@tollbook/core/money'
import { type Prices, type PricingDeps, shownPrice } from './prices.ts'

/** Percentage. Markets agree if each price is within this percentage of their median. */
const tolerancePercent = 2
/** Maximum age of a price for quotes in milliseconds, counted from the last agreement of the markets. */
const ageMaxMs = 300_000

export async function openMarketPrices({ liquidityMinUsd }: PriceConfig, deps: PricingDeps): Promise<Prices> {
  const { clock, log, terms, priceLists, listed, upstreams, earlier } = deps
  const job = await startPriceJob(
    { tolerancePercent, liquidityMinUsd, ageMaxMs },
    {
      clock,
      log,
      priceLists,
      listed,
      sources: marketSources(upstreams, terms),
      pricesAt: deps.pricesAt,
    },
    // Continue from the readings of the earlier prices, so that a reload keeps a price while a market is silent.
    earlier?.heard?.(),
  )
  return {
    checks: [{ name: 'price', problem: job.problem, quotesOnly: true }],
    currentPrice(endpoint, mint = terms.mint) {
      const inForce = job.inForce()
      const price = inForce?.prices.find((listed) => listed.endpoint === endpoint && listed.mint === mint)
      return inForce === undefined || price === undefined ? undefined : { ...price, priceList: inForce.priceList }
    },
    tokenPriceAttoUsd: () => job.inForce()?.tokenPriceAttoUsd,
    tokenPrice() {
      const price = job.inForce()
      if (price === undefined) return undefined
      const { tokenPriceAttoUsd, agreedAtMs, readings } = price
      const shown = shownPrice({ tokenPriceAttoUsd, source: 'market', asOfMs: agreedAtMs }, terms)
      return { ...shown, sources: readings.map(shownReading) }
    },
    heard: job.heard,
    close: job.stop,
  }
}

export function marketSources(upstreams: PricingDeps['upstreams'], terms: PaymentTerms): readonly PriceSource[] {
  const { access } = upstreams
  const markets = [createJupiter(access), createDexscreener(access), createGeckoterminal(access)]
  return markets.map((market) => sourceOf(market, terms))
}

function sourceOf(market: Market, { mint, decimals }: PaymentTerms): PriceSource {
  const source = market.name
  const token: PricedToken = { address: mint, decimals }
  return {
    async ask() {
      try {
        return { source, ...(await market.ask(token)).data }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        // Return only the kind of the failure: callers and the ledger read this text, and the error's message may
        // contain a provider's words.
        return { source, why: error.kind }
      }
    },
  }
}

function shownReading({ source, tokenPriceAttoUsd, liquidityUsd }: MarketReading): Json {
  const priceUSD = displayNumber(tokenPriceAttoUsd, tokenPriceDecimals)
  return { source, priceUSD, liquidityUSD: liquidityUsd === undefined ? null : displayNumber(liquidityUsd, 0) }
}
