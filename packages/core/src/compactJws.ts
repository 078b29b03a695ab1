import { toBase64Url, utf8Bytes } from './bytes.ts'
import { canonicalJson, type Json } from './canonicalJson.ts'
import type { Ed25519Signer } from './ed25519.ts'

/** Protected header (RFC 7515, RFC 8037). `kid` names the key among those that the service publishes. */
export interface JwsHeader {
  readonly alg: 'EdDSA'
  readonly kid: string
  readonly typ?: string
}

/** Signs canonical JSON as a compact JWS. Ed25519 is deterministic, so one value has one JWS under one header. */
export type SignJws = (value: Json, header: Pick<JwsHeader, 'typ'> & Partial<Pick<JwsHeader, 'kid'>>) => string

/** Writes this key's name into each header, unless a header names another `kid`. */
export function jwsSigner(signer: Ed25519Signer, kid: string): SignJws {
  return (value, header) => compactJws(signer, { alg: 'EdDSA', kid, ...header }, canonicalJson(value))
}

/** RFC 7515, section 7.1. A prepared key signs in half the time of WebCrypto. */
function compactJws(signer: Ed25519Signer, header: JwsHeader, payload: string): string {
  const signed = `${base64UrlOf(JSON.stringify(header))}.${base64UrlOf(payload)}`
  return `${signed}.${toBase64Url(signer.sign(utf8Bytes(signed)))}`
}

function base64UrlOf(text: string): string {
  return toBase64Url(utf8Bytes(text))
}
