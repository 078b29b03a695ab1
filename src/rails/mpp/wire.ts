import { z } from 'zod'
import { fromBase64Url, toBase64Url, utf8Bytes } from '@tollbook/core/bytes'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { parseJsonBytes } from '@tollbook/core/json'

/* The headers of the "Payment" HTTP authentication scheme (draft-ryan-httpauth-payment), on which MPP is based. */

export const credentialHeader = 'authorization'
export const preferenceHeader = 'accept-payment'
export const challengeHeader = 'www-authenticate'
export const receiptHeader = 'payment-receipt'

export const method = 'solana'
export const intent = 'charge'

/** Parameters of a `WWW-Authenticate: Payment` header. `request` and `opaque` are base64url of canonical JSON. */
const challengeJson = z.object({
  /** Authentication code of the other parameters. */
  id: z.string(),
  realm: z.string(),
  method: z.string(),
  intent: z.string(),
  request: z.string(),
  expires: z.string(),
  /** Digest of the body: `sha-256=` and base64. Absent for a request without a body. */
  digest: z.string().optional(),
  opaque: z.string(),
})

export type MppChallenge = Readonly<z.infer<typeof challengeJson>>
export type ChallengeParameters = Omit<MppChallenge, 'id'>

/** Returns the text that the id of a challenge authenticates. An absent parameter is an empty part between two bars. */
export function boundText({ realm, request, expires, digest, opaque, ...names }: ChallengeParameters): string {
  return [realm, names.method, names.intent, request, expires, digest ?? '', opaque].join('|')
}

export function writeChallenge(challenge: MppChallenge, description: string | undefined): string {
  const { id, realm, request, expires, digest, opaque } = challenge
  const parameters = Object.entries({ id, realm, method, intent, request, expires, digest, opaque, description })
  const written = parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`]))
  return `Payment ${written.join(', ')}`
}

// Nearly every value is printable ASCII without backslash and quotation mark, and needs no escapes.
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** Writes a quoted string of printable ASCII. Other characters become JSON escapes such as `\u00e9`, which mppx decodes. */
function quoted(value: string): string {
  if (plain.test(value)) return `"${value}"`
  const escaped = value
    .replaceAll(/[\\"]/g, String.raw`\$&`)
    .replaceAll(/[^\x20-\x7e]/g, (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `"${escaped}"`
}

export function encodeJson(content: Json): string {
  return encodeText(canonicalJson(content))
}

/** Encodes JSON that is already canonical. */
export function encodeText(json: string): string {
  return toBase64Url(utf8Bytes(json))
}

const credentialJson = z.object({
  challenge: challengeJson,
  payload: z.object({ type: z.string(), transaction: z.string().optional() }),
})

const opaqueJson = z.object({
  secret: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  priceList: z.string().regex(/^[1-9][0-9]{0,8}$/),
})

export interface Credential {
  readonly challenge: MppChallenge
  readonly payload: z.infer<typeof credentialJson>['payload']
  readonly secret: string
  readonly priceList: number
}

// Maximum length of the header. A transaction has at most 1,232 bytes, so the header with the repeated challenge has
// about 4 kB. Node accepts 16 kB of headers in total.
const charactersMax = 12_288

export function readCredential(header: string): Credential | undefined {
  if (header.length > charactersMax) return undefined
  const [, token] = /(?:^|,)[ \t]*payment[ \t]+([A-Za-z0-9_-]+)={0,2}[ \t]*(?:,|$)/i.exec(header) ?? []
  const credential = credentialJson.safeParse(token === undefined ? undefined : decodeJson(token))
  if (!credential.success) return undefined
  const opaque = opaqueJson.safeParse(decodeJson(credential.data.challenge.opaque))
  if (!opaque.success) return undefined
  const { secret, priceList } = opaque.data
  return { ...credential.data, secret, priceList: Number(priceList) }
}

/** True if the header contains the scheme, even with an unreadable credential. The header can contain several schemes. */
export function namesScheme(header: string): boolean {
  return /(?:^|,)[ \t]*payment(?:[ \t]|$)/i.test(header)
}

/**
 * True if the text after the scheme begins like a JSON object in base64url. Any other text counts as a request for a
 * challenge.
 */
export function bringsCredential(header: string): boolean {
  // In base64url, text that starts with `{` (0x7b) starts with `e`, then with one of the 16 characters whose first two
  // bits are 11.
  return /(?:^|,)[ \t]*[Pp][Aa][Yy][Mm][Ee][Nn][Tt][ \t]+e[w-z0-9_-]/.test(header)
}

const preferencesMax = 16

/** True if the Accept-Payment header allows `solana/charge`, by name or by wildcard. An entry with `q=0` does not count. */
export function acceptsCharge(preferences: string): boolean {
  const wanted = preferences.split(',', preferencesMax).map((each) => each.trim().toLowerCase())
  return wanted.some((each) => /^(?:solana|\*)\/(?:charge|\*)(?:;|$)/.test(each) && !/;[ \t]*q=0(?:\.0*)?$/.test(each))
}

export function decodeJson(text: string): unknown {
  const bytes = fromBase64Url(text)
  return bytes === undefined ? undefined : parseJsonBytes(bytes)
}
