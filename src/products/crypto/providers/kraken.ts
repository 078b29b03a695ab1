import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { CryptoQuery } from './cryptoPrice.ts'
import { decimalOf, positive, type ProviderDeps, type Witness } from '../../../sourcing/provider.ts'
import { openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { readJson, refuseStatus } from '../../../outbound/upstreamReply.ts'

export const krakenBase = 'https://api.kraken.com'
// Kraken documents a limit of about one request a second.
const pacePublic = { requests: 1, perSeconds: 1 }
// Short, because a caller waits for this check. A slower answer is ignored.
const timeoutMs = 1_000

const answer = z.object({
  error: z.array(z.string()),
  // The key in the result may differ from the requested name: for XBTUSD it is XXBTZUSD.
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
})

/**
 * Opens a second source for the price: the last trade of a dollar pair. The 24-hour change is not read, because
 * Kraken's `o` is the open of the UTC day.
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

/**
 * Returns the dollar pair of a coin. Throws `not_covered` without such a pair, because that kind of failure does not
 * count against Kraken.
 */
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
 * True if the answer is for the requested pair. Kraken answers XXBTZUSD for XBTUSD, because older pairs have a letter
 * before each currency.
 */
export function isSamePair(answered: string, asked: string): boolean {
  const base = asked.replace(/USD$/, '')
  return answered === asked || answered === `X${base}ZUSD` || answered === `${base}ZUSD`
}

/** Throws for an error of Kraken, which is in the body of an answer with status 200. */
export function refuseKrakenError([error]: readonly string[]): void {
  if (error === undefined) return
  if (error.startsWith('EQuery:Unknown asset pair')) throw new UpstreamFailure('not_found', 'unknown pair')
  if (/too many requests|rate limit|throttled/i.test(error))
    throw new UpstreamFailure('rate_limited', 'asks us to wait')
  throw new UpstreamFailure('upstream', 'an error in the body')
}
