import type { Endpoint } from '../product/endpoint.ts'
import { displayUsd } from '../pricing/priceList.ts'

/** Lists the deposits, or the models that have separate prices, as the end of a sentence. */
export function shownVariants({ variants = [], isDeposit }: Pick<Endpoint, 'variants' | 'isDeposit'>): string {
  if (isDeposit === true) return `; deposits are ${variants.map((variant) => `$${displayUsd(variant)}`).join(', ')}`
  const prices = variants.map((variant) => `$${displayUsd(variant)} for the model ${variant.name}`)
  return prices.length === 0 ? '' : `; ${prices.join(', ')}`
}

export function priceRange(endpoint: Endpoint) {
  const { variants = [] } = endpoint
  const prices = [endpoint, ...variants].toSorted((one, other) => (one.priceMicroUsd < other.priceMicroUsd ? -1 : 1))
  const [min = endpoint] = prices
  const max = prices.at(-1) ?? endpoint
  return variants.length === 0
    ? { mode: 'fixed', currency: 'USD', amount: String(displayUsd(endpoint)) }
    : { mode: 'dynamic', currency: 'USD', min: String(displayUsd(min)), max: String(displayUsd(max)) }
}
