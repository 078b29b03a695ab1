import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import type { Coin } from './coin.ts'
import type { CryptoPrice, CryptoProvider, CryptoQuery } from './cryptoPrice.ts'

/** An exchange as a price check: the last trade in dollars. */
export interface ReferencePrice {
  readonly name: string
  /** Undefined when the exchange does not trade the coin against the dollar. Throws only `UpstreamFailure`. */
  ask(coin: Coin): Promise<number> | undefined
}

// Venues usually differ by less than one per cent. A larger difference is a wrong coin, a wrong unit or an old price.
const deviationMax = 0.05
// The check must not delay the caller: exchanges that have not answered by then are ignored.
export const referenceMsMax = 1_000

export interface References {
  readonly clock: Clock
  readonly exchanges: readonly ReferencePrice[]
  readonly lastPrices: LastPrices
}

/** Prices that were sold lately, by CoinGecko's id: what is near to one needs no other confirmation. */
export interface LastPrices {
  find(id: string): number | undefined
  remember(id: string, price: number): void
}

const lastMs = 6 * 60 * 60_000
const lastMax = 1_000
const jumpMax = 0.25

export function createLastPrices(clock: Clock): LastPrices {
  const perf = { now: () => clock.monotonicMs() }
  const prices = new LRUCache<string, number>({ perf, ttlResolution: 0, max: lastMax, ttl: lastMs })
  return { find: (id) => prices.get(id), remember: (id, price) => void prices.set(id, price) }
}

export function agreeOnCoin(one: CryptoPrice, other: CryptoPrice): boolean {
  return Math.abs(one.price - other.price) <= other.price * deviationMax
}

/**
 * The provider, with its price compared to exchanges. The price is refused when at least one exchange answered and all that
 * answered differ: a single faulty exchange must not stop sales. While no exchange answers, a price that is not near the last
 * one is in doubt, so that it is sold only if another provider agrees.
 */
export function crossChecked(references: References, provider: CryptoProvider): CryptoProvider {
  return {
    ...provider,
    async ask(query) {
      // Asked at the same time; never rejects.
      const opinions = query.coin === undefined ? undefined : hear(references, query.coin)
      const observation = await provider.ask(query)
      const heard = (await opinions) ?? []
      const { price } = observation.data
      if (heard.length > 0 && heard.every((other) => Math.abs(price - other.price) > other.price * deviationMax))
        throw new UpstreamFailure('incomplete', `${provider.name} is far from ${heard.map(({ name }) => name).join()}`)
      const doubt = heard.length > 0 ? undefined : doubtOf(references, query, price)
      return {
        ...observation,
        ...(doubt === undefined ? {} : { doubt }),
        detail: {
          ...observation.detail,
          ...(heard.length === 0 ? {} : { checkedWith: heard.map(({ name }) => name) }),
        },
      }
    },
  }
}

function doubtOf({ lastPrices }: References, { coin }: CryptoQuery, price: number): string | undefined {
  if (coin === undefined) return undefined
  const last = lastPrices.find(coin.coingecko)
  if (last !== undefined) return Math.abs(price / last - 1) > jumpMax ? `far from the last price ${last}` : undefined
  const isTraded = coin.coinbase !== undefined || coin.kraken !== undefined
  return isTraded ? 'no exchange answers' : undefined
}

interface Opinion {
  readonly name: string
  readonly price: number
}

async function hear({ clock, exchanges }: References, coin: Coin): Promise<readonly Opinion[]> {
  const heard: Opinion[] = []
  const all = Promise.all(
    exchanges.map(async ({ name, ask }) => {
      try {
        const price = await ask(coin)
        if (price !== undefined) heard.push({ name, price })
      } catch (error) {
        // The failure was counted and logged where it happened.
        if (!(error instanceof UpstreamFailure)) throw error
      }
    }),
  )
  const ended = new AbortController()
  const late = clock.sleep(referenceMsMax, ended.signal).catch(() => undefined)
  await Promise.race([all, late])
  ended.abort()
  return [...heard]
}
