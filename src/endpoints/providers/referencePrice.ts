import type { Clock } from '@tollbook/core/clock'
import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import type { Coin } from './coin.ts'
import type { CryptoProvider } from './cryptoPrice.ts'

/** An exchange as a second opinion on a price: what was last paid there in dollars. */
export interface ReferencePrice {
  readonly name: string
  /** Undefined when the coin is not traded there against the dollar; throws `UpstreamFailure`. */
  ask(coin: Coin): Promise<number> | undefined
}

// Venues differ by less than one per cent as a rule; more than this is a wrong coin, a wrong unit or an old price.
const deviationMax = 0.05
// A second opinion must not cost the caller time: whoever has not answered by then is not heard.
export const referenceMsMax = 1_000

export interface References {
  readonly clock: Clock
  readonly exchanges: readonly ReferencePrice[]
}

/**
 * The provider, whose price is compared with what exchanges pay meanwhile. It is refused when at least one of them answered
 * and all who did are far from it: one exchange alone that has gone mad must not close the shop. Silence refuses nothing.
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
        // It has been counted and logged where it was asked; here it is only silent.
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
