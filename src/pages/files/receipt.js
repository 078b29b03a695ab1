/* Verifies a receipt with the published keys of the service and WebCrypto. Nothing but the keys is asked for. */

import { fromBase64Url, utf8 } from './encoding.js'

const read = (part) => JSON.parse(new TextDecoder().decode(fromBase64Url(part)))

/** A list of { label, holds }; the receipt is good when all hold. */
export async function verifyReceipt(receipt, keySet, { wallet, endpoint }) {
  const { jws, ...shown } = receipt
  const [head, payload, signature] = jws.split('.')
  const { alg, kid, typ } = read(head)
  const key = keySet.keys.find((each) => each.kid === kid)
  const isSigned =
    alg === 'EdDSA' &&
    typ === 'tollbook-receipt' &&
    key !== undefined &&
    (await verify(key, `${head}.${payload}`, signature))
  const signed = read(payload)
  const isShown = Object.entries(shown).every(([name, value]) => canonical(signed[name]) === canonical(value))
  return [
    { label: `Signed with the published key ${kid.slice(0, 12)}…`, holds: isSigned && isInPeriod(key, shown) },
    { label: 'Every field is the signed one', holds: isShown },
    { label: 'It names your wallet', holds: shown.wallet === wallet },
    { label: 'It names what you bought', holds: shown.endpoint === endpoint },
    { label: burnLabel(shown), holds: isBurned(shown) },
  ]
}

async function verify({ kty, crv, x }, text, signature) {
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, fromBase64Url(signature), utf8(text))
}

function isInPeriod({ nbf = -Infinity, exp = Infinity }, { issuedAt, reissuedAt = issuedAt }) {
  const seconds = Date.parse(reissuedAt) / 1000
  return nbf <= seconds && seconds < exp
}

function burnShare({ requiredBaseUnits, distribution }) {
  return Object.values(distribution).reduce((rest, share) => rest - BigInt(share), BigInt(requiredBaseUnits))
}

function isBurned(receipt) {
  const share = burnShare(receipt)
  const owed = BigInt(receipt.burnOwed ?? 0)
  return share >= 0n && (BigInt(receipt.burned) >= share || owed === share)
}

function burnLabel(receipt) {
  return receipt.burnOwed === undefined ? `${receipt.burned} base units were burned` : 'The burn is owed by the service'
}

function canonical(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}
