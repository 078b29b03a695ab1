import { builtinNames } from '../../src/product/builtinName.ts'
import { loadProducts, loadSearches } from '../../src/products/catalog.ts'

/** All built-in products and searches, as a service without a products file sells them. */
export const products = await loadProducts(builtinNames)
export const searches = await loadSearches(builtinNames)
