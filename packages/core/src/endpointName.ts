/*
 * Name of a price in price lists, quotes and receipts: the path of a product. If a variant has its own price, `#` and
 * the variant follow, as in `/api/ai/chat#large`. A payment is for one endpoint, so that a payment for a cheap variant
 * does not buy an expensive one.
 */

export function endpointOf(path: string, variant?: string): string {
  return variant === undefined ? path : `${path}#${variant}`
}

export function pathOf(endpoint: string): string {
  const end = endpoint.indexOf('#')
  return end === -1 ? endpoint : endpoint.slice(0, end)
}
