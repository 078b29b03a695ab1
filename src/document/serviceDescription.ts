import type { Json } from '@tollbook/core/canonicalJson'
import { contactUrl, type Seller } from '../product/seller.ts'
import type { PriceCatalog } from './priceCatalog.ts'

/** Describes the service and its offers in the vocabulary of schema.org, for search engines (JSON-LD). */
export function serviceDescription({
  linkBase,
  catalog,
  seller: { name, description, contact, termsUrl },
}: {
  readonly linkBase: string
  readonly seller: Seller
  readonly catalog: PriceCatalog
}): Json {
  return {
    '@context': 'https://schema.org',
    '@type': 'WebAPI',
    name,
    description,
    ...(termsUrl === undefined ? {} : { termsOfService: termsUrl }),
    ...(contact === undefined ? {} : { provider: { '@type': 'Organization', name, url: contactUrl(contact) } }),
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
