import { canonicalJson } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import type { CheckedOrder, Product } from '../product/product.ts'

/** Returns the digest of the order, to which a claim and a stored answer are bound (I6). A raw body is a part of it. */
export function orderDigest(
  { method, path }: Product,
  { parameters, body }: Pick<CheckedOrder, 'parameters' | 'body'>,
): string {
  return sha256Hex(canonicalJson({ method, path, parameters, ...(body === undefined ? {} : { body: { ...body } }) }))
}
