import { z } from 'zod'
import type { Reply } from '../../../sourcing/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { CryptoQuery } from './cryptoPrice.ts'
import {
  decimalOf,
  openUpstreamOf,
  positive,
  type ProviderDeps,
  readJson,
  refuseStatus,
  type Witness,
} from '../../../sourcing/provider.ts'

export const krakenBase = 'https://api.kraken.com'
// Documented limit: about one a second.
const pacePublic = { requests: 1, perSeconds: 1 }
// The check must not delay the caller: an exchange that has not answered by then is ignored.
const timeoutMs = 1_000

const answer = z.object({
  error: z.array(z.string()),
  // The name in the answer differs from the one in the request: XBTUSD is named XXBTZUSD.
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
})

/** Kraken: the last trade of a pair such as XBTUSD. Its `o` is the open of the UTC day, so it has no 24-hour change. */
export function createKraken(deps: ProviderDeps): Witness<CryptoQuery> {
  const upstream = openUpstreamOf(deps, 'KRAKEN', {
    name: 'kraken',
    publicBase: krakenBase,
    pace: pacePublic,
    timeoutMs,
  })
  return {
    name: 'kraken',
    covers: ({ coin }) => coin?.kraken !== undefined,
    async ask({ coin }) {
      const pair = krakenPairOf(coin)
      return upstream.ask({ path: '/0/public/Ticker', query: { pair } }, (reply) => read(reply, pair))
    },
  }
}

/** Throws `not_covered` for a coin without a dollar pair, which does not count against the exchange. */
export function krakenPairOf(coin: CryptoQuery['coin']): string {
  if (coin?.kraken !== undefined) return coin.kraken
  throw new UpstreamFailure('not_covered', 'the coin is not traded against the dollar here')
}

function read(reply: Reply, asked: string) {
  refuseStatus(reply)
  const { error, result = {} } = readJson(reply, answer)
  refuseKrakenError(error)
  const [found, ...others] = Object.entries(result)
  if (found === undefined || others.length > 0) throw new UpstreamFailure('bad_payload', 'not one pair')
  const [name, { c: trade }] = found
  if (!isSamePair(name, asked)) throw new UpstreamFailure('bad_payload', 'another pair was answered')
  return { figures: { price: positive(decimalOf(trade[0]), 'the price') } }
}

/** Older pairs have a letter before each side in the answer: XXBTZUSD for XBTUSD. */
export function isSamePair(answered: string, asked: string): boolean {
  const base = asked.replace(/USD$/, '')
  return answered === asked || answered === `X${base}ZUSD` || answered === `${base}ZUSD`
}

/** Every answer comes under 200. */
export function refuseKrakenError([error]: readonly string[]): void {
  if (error === undefined) return
  if (error.startsWith('EQuery:Unknown asset pair')) throw new UpstreamFailure('not_found', 'unknown pair')
  if (/too many requests|rate limit|throttled/i.test(error))
    throw new UpstreamFailure('rate_limited', 'asks us to wait')
  throw new UpstreamFailure('upstream', 'an error in the body')
}
