import { assert } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Outcome } from '../product/product.ts'
import type { ProductHandler } from '../product/productDefinition.ts'
import type { AnswerSource, Found } from './source.ts'
import { text, type TextRule } from '../product/text.ts'

/**
 * Maximum of additional symbols in a request, because each symbol uses as much of the providers' quota as a separate
 * request.
 */
const moreMax = 4

export function moreSymbols(what: string, symbol: RegExp) {
  const rule: TextRule = {
    expected: `1 to ${moreMax} further ${what}, separated by commas`,
    shown: { minLength: 1, maxLength: 100 },
    test(value) {
      const symbols = value.split(',')
      const areSymbols = value.length <= 100 && symbols.length <= moreMax && symbols.every((one) => symbol.test(one))
      return areSymbols && new Set(symbols.map((one) => one.toUpperCase())).size === symbols.length
    },
  }
  return text(rule)
}

/** The schema must have accepted the value before. */
export function splitSymbols(more: string | undefined): readonly string[] {
  return more?.split(',') ?? []
}

interface SymbolHandlerOptions<Order, Query, Data> {
  readonly source: AnswerSource<Query, Data>
  /** The main item is first, before the items of `more`. */
  readonly queriesOf: (order: Order) => readonly [Query, ...Query[]]
  readonly dataOf: (order: Order, answered: AnsweredQuery<Query, Data>) => Readonly<Record<string, Json>>
  readonly hint: string
}

export interface AnsweredQuery<Query, Data> {
  readonly query: Query
  readonly found: Found<Data>
}

/** One payment covers all symbols of an order, so the order is delivered completely or fails. */
export function symbolHandler<Order extends Json, Query extends { readonly symbol: string }, Data>(
  options: SymbolHandlerOptions<Order, Query, Data>,
): ProductHandler<Order> {
  const { source, queriesOf, hint } = options
  return {
    probes: [source.liveness],
    providersAnswer: () => source.liveness.someAnswer(),
    whyUnavailable: (order, buyer) =>
      order === undefined
        ? source.whyUnavailable()
        : queriesOf(order)
            .map((query) => source.whyUnavailable(query, buyer))
            .find((why) => why !== undefined),
    whyNoData(order) {
      const missing = queriesOf(order).find((query) => source.isKnownMissing(query))
      return missing === undefined ? undefined : `no provider knew ${missing.symbol} minutes ago; ${hint}`
    },
    deliver: (order, { payer }) => deliver(options, order, payer),
  }
}

async function deliver<Order extends Json, Query extends { readonly symbol: string }, Data>(
  { source, queriesOf, dataOf }: SymbolHandlerOptions<Order, Query, Data>,
  order: Order,
  payer: string,
): Promise<Outcome> {
  const queries = queriesOf(order)
  const all = await Promise.all(queries.map(async (query) => ({ query, found: await source.ask(query, payer) })))
  const answers: AnsweredQuery<Query, Data>[] = []
  for (const { query, found } of all) {
    if (found.kind === 'failed')
      return queries.length === 1 ? found : { ...found, message: `${query.symbol}: ${found.message}` }
    answers.push({ query, found })
  }
  const [first, ...more] = answers
  assert(first !== undefined, 'an order names an item')
  const moreData = more.map((answered) => dataOf(order, answered))
  const moreMeta = more.map(({ found }) => found.meta)
  return {
    kind: 'delivered',
    data: { ...dataOf(order, first), ...(more.length === 0 ? {} : { more: moreData }) },
    meta: { ...first.found.meta, ...(more.length === 0 ? {} : { more: moreMeta }) },
  }
}
