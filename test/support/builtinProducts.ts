import { builtinNames } from '../../src/product/builtinName.ts'
import { loadProducts, loadSearches, type Parts } from '../../src/products/catalog.ts'
import { upstreamNames } from '../../src/product/providerTerms.ts'
import type { ProviderDeps } from '../../src/sourcing/provider.ts'

/** All built-in products and searches, as a service without a products file sells them. */
export const products = await loadProducts(builtinNames)
export const searches = await loadSearches(builtinNames)

const isUpstream = (name: string): boolean => upstreamNames.some((one) => one === name)

/** The products that ask providers and nothing else. News also needs its store, and chats a server. */
export const sourcedProducts = products.filter(({ providers }) => providers.length > 0 && providers.every(isUpstream))

/** The parts of a process that has providers only. */
export function onlyData(data: ProviderDeps): Parts {
  const refuse = () => Promise.reject(new Error('this product needs its providers only'))
  return { data, pages: refuse, news: refuse, chat: refuse }
}
