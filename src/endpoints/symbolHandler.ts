import type { Json } from '@tollbook/core/canonicalJson'
import type { ProductHandler } from './productDefinition.ts'
import type { AnswerSource } from './source.ts'

interface SymbolHandlerOptions<Query, Data> {
  readonly source: AnswerSource<Query, Data>
  readonly queryOf: (symbol: string) => Query
  /** Advice for a caller whose symbol no provider knows. */
  readonly hint: string
}

/** The handler of a product that is ordered by a symbol and delivered by a source of providers. */
export function symbolHandler<
  Query extends { readonly symbol: string },
  Data extends { readonly [key: string]: Json },
>({ source, queryOf, hint }: SymbolHandlerOptions<Query, Data>): ProductHandler<{ symbol: string }> {
  return {
    probes: [source.liveness],
    providersAnswer: () => source.liveness.someAnswer(),
    whyUnavailable: (order, buyer) => source.whyUnavailable(order && queryOf(order.symbol), buyer),
    whyNoData: (order) =>
      source.isKnownMissing(queryOf(order.symbol)) ? `no provider knew it minutes ago; ${hint}` : undefined,
    async deliver(order, { payer }) {
      const query = queryOf(order.symbol)
      const found = await source.ask(query, payer)
      if (found.kind !== 'found') return found
      // The answer repeats the requested spelling: XBT for a caller who asked for XBT, though BTC was fetched.
      return { kind: 'delivered', data: { ...found.data, symbol: query.symbol }, meta: found.meta }
    },
  }
}
