import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { CryptoQuery } from './cryptoPrice.ts'
import { decimalOf, positive, type ProviderDeps, type Witness } from '../../../sourcing/provider.ts'
import { openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'

export const krakenBase = 'https://api.kraken.com'
// Documented limit: about one request a second.
const pacePublic = { requests: 1, perSeconds: 1 }
// Wait one second at most, so that the check does not delay the caller. A slower exchange is ignored.
const timeoutMs = 1_000

const answer = z.object({
  error: z.array(z.string()),
  // The key in the answer differs from the requested name: XBTUSD becomes XXBTZUSD.
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
})

/**
 * Reads the last trade of a pair such as XBTUSD. Kraken's `o` is the open of the UTC day, so there is no 24-hour
 * change.
 */
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

/** Returns the dollar pair of a coin. Throws `not_covered` without one, which does not count against the exchange. */
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

/**
 * True if both names mean the same pair. Kraken answers XXBTZUSD for XBTUSD: older pairs have a letter before each
 * side.
 */
export function isSamePair(answered: string, asked: string): boolean {
  const base = asked.replace(/USD$/, '')
  return answered === asked || answered === `X${base}ZUSD` || answered === `${base}ZUSD`
}

/** Throws for an error in the body: every answer has status 200. */
export function refuseKrakenError([error]: readonly string[]): void {
  if (error === undefined) return
  if (error.startsWith('EQuery:Unknown asset pair')) throw new UpstreamFailure('not_found', 'unknown pair')
  if (/too many requests|rate limit|throttled/i.test(error))
    throw new UpstreamFailure('rate_limited', 'asks us to wait')
  throw new UpstreamFailure('upstream', 'an error in the body')
}
