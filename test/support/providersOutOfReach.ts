import { upstreamNames } from '../../src/product/providerTerms.ts'
import { newsCategories } from '../../src/products/news/articles/newsCategory.ts'
import { deadUrl } from './loopbackProvider.ts'

/** The environment of a machine on which every provider's address refuses connections. No language model is configured. */
export async function providersOutOfReach(): Promise<Record<string, string>> {
  const dead = await deadUrl()
  return {
    ...Object.fromEntries(upstreamNames.map((name) => [`${name}_URL`, dead])),
    NEWS_FEEDS: newsCategories.map((category) => `${category}=${dead}/feed.xml`).join(','),
  }
}
