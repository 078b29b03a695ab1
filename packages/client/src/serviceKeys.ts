import { calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose'
import { z } from 'zod'
import { fromBase64Url } from '@tollbook/core/bytes'
import { plainData } from './plainData.ts'
import { parseJson } from './readBody.ts'

/* Public keys of a service as a caller stored them, with their periods, and signatures by them. */

const publicKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string().exactOptional(),
  /** Period of the key, in seconds since 1970. */
  nbf: z.number().exactOptional(),
  exp: z.number().exactOptional(),
})
const keySet = z.union([z.object({ keys: z.array(z.unknown()).max(100) }), publicKey])

/** An Ed25519 key as JWK, with its name. */
export type KeyWithId = z.infer<typeof publicKey> & { readonly kid: string }

/** Keys of other kinds in the set are ignored. A private part is dropped. */
export async function readKeys(keys: unknown): Promise<readonly KeyWithId[] | undefined> {
  const { data } = keySet.safeParse(plainData(keys))
  if (data === undefined) return undefined
  const candidates = 'keys' in data ? data.keys.map((key) => publicKey.safeParse(key).data) : [data]
  const usable = candidates.filter((key) => key !== undefined)
  if (usable.length === 0) return undefined
  // A key without a name gets its RFC 7638 thumbprint as name.
  return Promise.all(usable.map(async (key) => ({ ...key, kid: key.kid ?? (await calculateJwkThumbprint(key)) })))
}

/** Without `nbf` a key is valid from the beginning, without `exp` indefinitely. */
export function isInPeriod({ nbf = -Infinity, exp = Infinity }: KeyWithId, atMs: number): boolean {
  return nbf * 1000 <= atMs && atMs < exp * 1000
}

/** Undefined if it is not JSON. */
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

/** Undefined if the signature is invalid. */
async function verifySignature(jws: string, key: KeyWithId): Promise<Uint8Array | undefined> {
  try {
    const jwk: JWK = { ...key, alg: 'EdDSA' }
    const { payload } = await compactVerify(jws, await importJWK(jwk, 'EdDSA'), { algorithms: ['EdDSA'] })
    return payload
  } catch {
    // jose throws a different error for each defect. Callers treat all of them as an invalid signature.
    return undefined
  }
}
