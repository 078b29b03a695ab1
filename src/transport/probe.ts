import type { IncomingMessage } from 'node:http'
import { Bug } from '@tollbook/core/assert'
import type { Endpoint } from '../product/endpoint.ts'
import type { CheckedOrder } from '../product/product.ts'

/** True if the request has no query and no body. Indexers request a price in this form. */
export function hasNoInput({ url = '', headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  return !url.includes('?') && !hasBody
}

/**
 * Creates an order without parameters that has a price and cannot be bought. A request with any input is checked as
 * usual, so that a typing error costs no money.
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
