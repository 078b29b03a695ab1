import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { openUpstreamOf } from '../../../outbound/publicUpstream.ts'
import { parseJson } from '../../../outbound/upstreamReply.ts'
import type { ProviderDeps } from '../../../sourcing/provider.ts'
import { listedCoins } from './coin.ts'
import { coinGeckoOptions, refuseCoinGeckoError } from './coinGeckoUpstream.ts'
import type { CryptoQuery } from './cryptoPrice.ts'

/**
 * CoinGecko's list of all coins, read in the background. An order for a coin outside the list is refused before
 * payment.
 */
export interface CoinList {
  /** Returns false only if a recent list lacks the coin. Starts a background read if the current list is old. */
  mayHave(query: CryptoQuery): boolean
}

// The list has about 1.5 MB.
const bytesMax = 8 * 1024 * 1024
const timeoutMs = 20_000
const hour = 60 * 60 * 1000
// Reading the list every six hours is often enough, because a new coin gets a rank some days after it is listed.
const renewMs = 6 * hour
const validMs = 24 * hour
const retryMs = hour / 6

interface Names {
  readonly symbols: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  readonly readAtMs: number
}

/** Opens the list. If probes are off, it is never read, because then only requests for callers may be sent. */
export function openCoinList(deps: ProviderDeps): CoinList {
  const { clock, isProbed } = deps
  const upstream = openUpstreamOf(deps, 'COINGECKO', {
    ...coinGeckoOptions(deps),
    pace: { requests: 1, perSeconds: 60 },
    bytesMax,
    timeoutMs,
  })
  let names: Names | undefined
  let nextAtMs = 0
  const renew = (): void => {
    const nowMs = clock.monotonicMs()
    if (!isProbed || nowMs < nextAtMs) return
    nextAtMs = nowMs + retryMs
    const read = upstream.ask({ path: '/coins/list' }, (reply) => {
      refuseCoinGeckoError(reply)
      return namesOf(parseJson(reply), deps)
    })
    read.then(
      (found) => {
        names = { ...found, readAtMs: nowMs }
        nextAtMs = nowMs + renewMs
      },
      // Ignore the failure here, because the upstream has logged and counted it. The previous list stays in use until
      // it is 24 hours old.
      () => undefined,
    )
  }
  renew()
  return {
    mayHave({ coin, id, symbol }) {
      renew()
      if (coin !== undefined || names === undefined || clock.monotonicMs() - names.readAtMs > validMs) return true
      return id === undefined ? names.symbols.has(symbol.toLowerCase()) : names.ids.has(id)
    },
  }
}

/**
 * Reads the symbols and ids in the list. Throws if it lacks more than half of our listed coins, because such a list
 * would wrongly deny other coins too. The samples of local mode have few coins, so one listed coin is enough there.
 */
function namesOf(items: unknown, { sampleUpstreams }: ProviderDeps): Omit<Names, 'readAtMs'> {
  const [symbols, ids] = [new Set<string>(), new Set<string>()]
  for (const item of Array.isArray(items) ? items : []) {
    const { id, symbol } = Object(item)
    if (typeof id !== 'string' || typeof symbol !== 'string') continue
    ids.add(id)
    symbols.add(symbol.toLowerCase())
  }
  const coins = listedCoins()
  const known = coins.filter(({ coingecko }) => ids.has(coingecko)).length
  if (known === 0 || (known * 2 < coins.length && !sampleUpstreams))
    throw new UpstreamFailure('incomplete', 'the list of coins lacks most of those that exist')
  return { symbols, ids }
}
