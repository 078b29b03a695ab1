import { LRUCache } from 'lru-cache'
import type { FreeRequest } from '../transport/freeRoute.ts'
import type { PublicBody } from '../transport/publicBody.ts'
import { createPublicText } from '../transport/publicDocument.ts'
import type { ServiceAddress } from '../transport/serviceAddress.ts'

// Callers reach an instance by few names. A stranger who invents others makes it render again.
const addressesMax = 4

/**
 * A text that names the service's own address, such as the OpenAPI
 * document. It is rendered once per address and version.
 */
export interface AddressedText {
  readonly address: Pick<ServiceAddress, 'urlFor'>
  /** A text is rendered again when its version changes. */
  readonly version: () => string
  readonly render: (baseUrl: string) => string
}

/** A public text that contains the address of the service, prepared once for each version and address. */
export function createAddressedText({ address, version, render }: AddressedText) {
  const texts = new LRUCache<string, ReturnType<typeof createPublicText>>({ max: addressesMax })
  return ({ host }: Pick<FreeRequest, 'host'>): Promise<PublicBody> => {
    const baseUrl = address.urlFor(host)
    const prepare = texts.get(baseUrl) ?? createPublicText()
    texts.set(baseUrl, prepare)
    return prepare(version(), () => render(baseUrl))
  }
}
