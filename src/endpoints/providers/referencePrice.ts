import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import type { Coin } from './coin.ts'
import type { CryptoProvider } from './cryptoPrice.ts'

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
}

/**
 * The provider, with its price compared to exchanges. The price is refused when at least one exchange answered and all that
 * answered differ: a single faulty exchange must not stop sales. Exchanges that do not answer are ignored.
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
      return {
        ...observation,
        detail: {
          ...observation.detail,
          ...(heard.length === 0 ? {} : { checkedWith: heard.map(({ name }) => name) }),
        },
      }
    },
  }
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
