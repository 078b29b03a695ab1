import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Outcome, Value } from '../../product/product.ts'
import { cryptoAnswer, type CryptoOrder, type priced } from './cryptoParameters.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'
import type { ExchangeRates, OtherCurrency, RatesQuery } from './providers/exchangeRate.ts'
import type { AnswerSource, Found } from '../../sourcing/source.ts'

type Rates = AnswerSource<RatesQuery, ExchangeRates>

/**
 * Converts the amounts of an order in another currency than dollars. Such an order fails if the sources do not agree on
 * a rate, because no source would confirm the converted amounts.
 */
export function withCurrency(handler: ProductHandler<CryptoOrder>, rates: Rates): ProductHandler<CryptoOrder> {
  return {
    ...handler,
    whyUnavailable(order, buyer) {
      const why = handler.whyUnavailable(order, buyer)
      return (
        why ?? (order === undefined || currencyOf(order) === undefined ? undefined : rates.whyUnavailable({}, buyer))
      )
    },
    async deliver(order, job): Promise<Outcome> {
      const currency = currencyOf(order)
      if (currency === undefined) return handler.deliver(order, job)
      // Request price and rates together, so that both are from the same minute.
      const [outcome, found] = await Promise.all([handler.deliver(order, job), rates.ask({}, job.payer)])
      if (outcome.kind !== 'delivered') return outcome
      return found.kind === 'failed' ? found : inCurrency(outcome, currency, found)
    },
  }
}

function currencyOf({ currency }: CryptoOrder): OtherCurrency | undefined {
  return currency === 'USD' ? undefined : currency
}

function inCurrency(
  { data, meta }: Value,
  currency: OtherCurrency,
  { data: rates, meta: rateMeta }: Found<ExchangeRates>,
): Value {
  const perUsd = rates[currency]
  const { more, ...first } = cryptoAnswer.parse(data)
  const converted = (item: z.infer<typeof priced>) => convert(item, currency, perUsd)
  return {
    kind: 'delivered',
    data: { ...converted(first), ...(more === undefined ? {} : { more: more.map(converted) }) },
    meta: { ...meta, ...metaIn(currency, meta), exchangeRate: { perUsd, ...rateMeta } },
  }
}

const metaList = z.array(z.record(z.string(), z.json()))

/** Returns the members of `meta` that state the currency. The amounts in `agreement` stay in US dollars. */
function metaIn(currency: OtherCurrency, { more }: Value['meta']) {
  const others = metaList.safeParse(more).data
  return { currency, ...(others === undefined ? {} : { more: others.map((other) => ({ ...other, currency })) }) }
}

function convert(
  { details, ...item }: z.infer<typeof priced>,
  currency: OtherCurrency,
  perUsd: number,
): Readonly<Record<string, Json>> {
  const inIt = (usd: number) => Number((usd * perUsd).toPrecision(12))
  const { price, volume24h, marketCap } = item
  const figures = { ...item, price: inIt(price), volume24h: inIt(volume24h), marketCap: inIt(marketCap) }
  if (details === undefined) return figures
  const { high24h, low24h } = details
  const range = { ...(high24h ? { high24h: inIt(high24h) } : {}), ...(low24h ? { low24h: inIt(low24h) } : {}) }
  return { ...figures, details: { ...details, ...range, currency } }
}
