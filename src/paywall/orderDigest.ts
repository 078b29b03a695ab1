import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import type { Product } from '../product/product.ts'

/** Returns the digest of the order, to which a claim and a stored answer are bound (I6). */
export function orderDigest({ method, path }: Product, parameters: Json): string {
  return sha256Hex(canonicalJson({ method, path, parameters }))
}
