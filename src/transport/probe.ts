import type { IncomingMessage } from 'node:http'
import { Bug } from '@tollbook/core/assert'
import type { Endpoint } from '../product/endpoint.ts'
import type { CheckedOrder } from '../product/product.ts'

/** No query and no body. Indexers ask for a price like that. */
export function hasNoInput({ url = '', headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  return !url.includes('?') && !hasBody
}

/**
 * An order without parameters that can be priced and not bought. Any input is checked as usual, so that a typing error costs nothing.
 */
export function openProbe({ path, whyUnavailable }: Endpoint): CheckedOrder {
  return {
    parameters: null,
    endpoint: path,
    whyUnavailable,
    whyUndeliverable: whyUnavailable,
    whyNoData: () => undefined,
    deliver: () => Promise.reject(new Bug('a request without a proof is not delivered')),
  }
}
