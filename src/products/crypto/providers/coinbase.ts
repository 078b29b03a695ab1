import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { baseUrlOf } from '../../../product/upstreamName.ts'
import { decimalOf, paceOf, positive, type ProviderDeps, readJson, refuseStatus } from '../../../sourcing/provider.ts'
import { notTraded, type ReferencePrice, referenceMsMax } from './referencePrice.ts'

// The documented limit is 10 a second; a price check needs less.
const pacePublic = { requests: 5, perSeconds: 1 }
// An older trade does not describe the current price.
const tradeAgeMaxMs = 10 * 60 * 1000

const ticker = z.object({ price: z.string(), time: z.iso.datetime() })

/** Coinbase Exchange: the last trade of a product such as BTC-USD. */
export function createCoinbase(deps: ProviderDeps): ReferencePrice {
  const setting = deps.upstreams.COINBASE
  const upstream = deps.openUpstream({
    name: 'coinbase',
    base: baseUrlOf(setting, 'https://api.exchange.coinbase.com'),
    pace: paceOf(setting, pacePublic),
    timeoutMs: referenceMsMax,
  })
  return {
    name: 'coinbase',
    covers: ({ coin }) => coin?.coinbase !== undefined,
    async ask({ coin }) {
      if (coin?.coinbase === undefined) throw notTraded()
      return upstream.ask({ path: `/products/${coin.coinbase}/ticker` }, (reply) => read(reply, deps.clock))
    },
  }
}

function read(reply: Reply, clock: Clock) {
  refuseStatus(reply)
  const { price, time } = readJson(reply, ticker)
  const asOfMs = Date.parse(time)
  if (Math.abs(clock.nowMs() - asOfMs) > tradeAgeMaxMs)
    throw new UpstreamFailure('incomplete', 'the last trade is old, or of the future')
  return { figures: { price: positive(decimalOf(price), 'the price') }, asOfMs }
}
