import type { IncomingMessage } from 'node:http'
import { Bug } from '@tollbook/core/assert'
import type { Endpoint } from '../product/endpoint.ts'
import type { CheckedOrder } from '../product/product.ts'

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** True if the request has no query and no body. Indexers request a price in this form. */
export function hasNoInput(request: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return request.url?.includes('?') !== true && !hasBody(request)
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
