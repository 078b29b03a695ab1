import { calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose'
import { z } from 'zod'
import { fromBase64Url } from '@tollbook/core/bytes'
import { plainData } from './plainData.ts'
import { parseJson } from './readBody.ts'

const publicKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().min(1),
  kid: z.string().exactOptional(),
  /** Start of the key's validity, in seconds since 1970. `exp` is the end. */
  nbf: z.number().exactOptional(),
  exp: z.number().exactOptional(),
})
const keySet = z.union([z.object({ keys: z.array(z.unknown()).max(100) }), publicKey])

export type KeyWithId = z.infer<typeof publicKey> & { readonly kid: string }

/**
 * Reads the Ed25519 keys of a JWK or a JWKS. Ignores keys of other kinds, and drops private parts. Undefined if no
 * usable key remains.
 */
export async function readKeys(keys: unknown): Promise<readonly KeyWithId[] | undefined> {
  const { data } = keySet.safeParse(plainData(keys))
  if (data === undefined) return undefined
  const candidates = 'keys' in data ? data.keys.map((key) => publicKey.safeParse(key).data) : [data]
  const usable = candidates.filter((key) => key !== undefined)
  if (usable.length === 0) return undefined
  // A key without an ID gets its RFC 7638 thumbprint as its ID.
  return Promise.all(usable.map(async (key) => ({ ...key, kid: key.kid ?? (await calculateJwkThumbprint(key)) })))
}

/** Without `nbf` the period has no start, without `exp` no end. */
export function isInPeriod({ nbf = -Infinity, exp = Infinity }: KeyWithId, atMs: number): boolean {
  return nbf * 1000 <= atMs && atMs < exp * 1000
}

export function readHeader(jws: string): unknown {
  const [header = ''] = jws.split('.', 1)
  return parseJson(fromBase64Url(header) ?? new Uint8Array())
}

export async function findSigned(jws: string, keys: readonly KeyWithId[]) {
  for (const key of keys) {
    const payload = await verifySignature(jws, key)
    if (payload !== undefined) return { key, payload }
  }
  return undefined
}

async function verifySignature(jws: string, key: KeyWithId): Promise<Uint8Array | undefined> {
  try {
    const jwk: JWK = { ...key, alg: 'EdDSA' }
    const { payload } = await compactVerify(jws, await importJWK(jwk, 'EdDSA'), { algorithms: ['EdDSA'] })
    return payload
  } catch {
    // Ignore the error, because jose throws a different error for each defect, and all of them mean that the signature
    // is invalid.
    return undefined
  }
}
