import { assert } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { sha256 } from '@tollbook/core/digest'
import { z } from 'zod'
import type { SettingPeriod } from './settingPeriods.ts'

export const publicReceiptKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  /** 32 bytes in base64url. */
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  /** Absent: the id is the RFC 7638 thumbprint. */
  kid: z.string().exactOptional(),
})

export type PublicReceiptKey = z.infer<typeof publicReceiptKey>

/** Returns `kid`, or by default the RFC 7638 thumbprint, which is different for every key. */
export function receiptKeyId({ kty, crv, x, kid }: PublicReceiptKey): string {
  return kid ?? Buffer.from(sha256(canonicalJson({ crv, kty, x }))).toString('base64url')
}

export function receiptKeyBytes({ x }: Pick<PublicReceiptKey, 'x'>): Uint8Array {
  const bytes = Buffer.from(x, 'base64url')
  assert(bytes.length === 32, 'an Ed25519 key has 32 bytes')
  return bytes
}

/** The newest key comes first. */
export function receiptKeysOf(periods: readonly SettingPeriod[]): readonly PublicReceiptKey[] {
  return periods.toReversed().map(({ value }) => publicReceiptKey.parse(value))
}

/** Returns the DID of method `web`, which contains the host and the port of the service. */
export function didOf(serviceUrl: string): string {
  return `did:web:${new URL(serviceUrl).host.replace(':', '%3A')}`
}

/** Lists all recorded keys, newest first, under the ids that signed statements use. */
export function didDocumentOf(serviceUrl: string, periods: readonly SettingPeriod[]): Json {
  const did = didOf(serviceUrl)
  const methods = receiptKeysOf(periods).map((key) => {
    const { kty, crv, x } = key
    return { id: `${did}#${receiptKeyId(key)}`, type: 'JsonWebKey2020', controller: did, publicKeyJwk: { kty, crv, x } }
  })
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  }
}

/** A key stays listed after its period, because receipts of that period must still verify. */
export function jwkSetOf(periods: readonly SettingPeriod[]): Json {
  return {
    keys: periods.toReversed().map(({ value, fromMs, untilMs }) => {
      const key = publicReceiptKey.parse(value)
      const { kty, crv, x } = key
      return {
        kty,
        crv,
        x,
        kid: receiptKeyId(key),
        alg: 'EdDSA',
        use: 'sig',
        ...(fromMs === -Infinity ? {} : { nbf: fromMs / 1000 }),
        ...(untilMs === Infinity ? {} : { exp: untilMs / 1000 }),
      }
    }),
  }
}
