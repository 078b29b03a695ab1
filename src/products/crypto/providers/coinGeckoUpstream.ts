import { z } from 'zod'
import type { Reply } from '../../../outbound/upstreamRequest.ts'
import type { Upstream } from '../../../outbound/upstream.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { errorIn, refuseStatus } from '../../../outbound/upstreamReply.ts'
import { baseUrlOf, openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import type { ProviderDeps } from '../../../sourcing/provider.ts'

// CoinGecko's limit without a key is 5 requests a minute per address. With a free key, older documents state 30 a
// minute.
const pacePublic = { requests: 5, perSeconds: 60 }
const paceWithKey = { requests: 30, perSeconds: 60 }
const publicBase = 'https://api.coingecko.com/api/v3'
const proHost = 'pro-api.coingecko.com'

/** Opens the upstream that prices, exchange rates and histories share, because they share one limit. */
export function openCoinGecko(deps: ProviderDeps): Upstream {
  return openUpstreamOf(deps, 'COINGECKO', coinGeckoOptions(deps))
}

export function coinGeckoOptions({ upstreams }: Pick<ProviderDeps, 'upstreams'>) {
  const setting = upstreams.COINGECKO
  const { hostname } = baseUrlOf(setting, publicBase)
  const key = setting?.apiKey
  return {
    name: 'coingecko',
    publicBase,
    pace: key === undefined ? pacePublic : paceWithKey,
    timeoutMs: 3_500,
    headers: key === undefined ? {} : { [hostname === proHost ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key']: key },
  }
}

const errorBody = z
  .object({ status: z.object({ error_code: z.number() }) })
  .transform(({ status }) => status.error_code)
const keyProblems = new Set([10_002, 10_005, 10_010, 10_011])

/** Refuses an error in the body, because CoinGecko also reports rate limits with status 200. */
export function refuseCoinGeckoError(reply: Reply): void {
  const code = errorIn(reply, errorBody)
  if (code === 429) throw new UpstreamFailure('rate_limited', 'the limit is in the body')
  if (code !== undefined && keyProblems.has(code)) throw new UpstreamFailure('auth', `error ${code}`)
  if (code === 1_020) throw new UpstreamFailure('blocked', 'error 1020')
  refuseStatus(reply, 'bad_payload')
}
