import canonicalize from 'canonicalize'
import { assert } from './assert.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/**
 * RFC 8785 text: one value has one spelling, so a digest of it means something.
 * What is stored and hashed is this text's UTF-8 bytes; it is never parsed and written again to hash it.
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value)
  assert(typeof text === 'string', 'a JSON value has a canonical text')
  return text
}
