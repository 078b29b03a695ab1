import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import type { CheckedOrder, Product } from '../product/product.ts'

/**
 * Returns the digest of the order, to which a claim and a stored answer are bound (I6). A raw body and the headers that
 * are passed on are parts of it.
 */
export function orderDigest(
  { method, path }: Product,
  { parameters, body, headers }: Pick<CheckedOrder, 'parameters' | 'body' | 'headers'>,
): string {
  const sent = { ...(body === undefined ? {} : { body: { ...body } }), ...(headers === undefined ? {} : { headers }) }
  return sha256Hex(canonicalJson({ method, path, parameters, ...sent }))
}
