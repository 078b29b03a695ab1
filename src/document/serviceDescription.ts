import type { Json } from '@tollbook/core/canonicalJson'
import type { PriceCatalog } from './priceCatalog.ts'

/** Describes the service and its offers in the vocabulary of schema.org, for search engines (JSON-LD). */
export function serviceDescription({
  linkBase,
  catalog,
}: {
  readonly linkBase: string
  readonly catalog: PriceCatalog
}): Json {
  return {
    '@context': 'https://schema.org',
    '@type': 'WebAPI',
    name: 'Tollbook',
    description: 'Data and tools by the request, paid with a token on Solana',
    url: `${linkBase}/`,
    documentation: `${linkBase}/docs`,
    hasOfferCatalog: {
      '@type': 'OfferCatalog',
      name: 'Prices of one request',
      itemListElement: catalog.products.map(({ path, summary, priceUSD, available }) => ({
        '@type': 'Offer',
        price: String(priceUSD),
        priceCurrency: 'USD',
        availability: `https://schema.org/${available ? 'InStock' : 'OutOfStock'}`,
        itemOffered: { '@type': 'Service', name: summary, url: `${linkBase}${path}` },
      })),
    },
  }
}
