/*
 * Base58 for signatures of 64 bytes and addresses of 32. Four digits are encoded at a time, ten times as fast as digit
 * by digit, because every payment of a ledger needs it. The code is the auditor's own.
 */

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
// Base of four digits. Its product with three bytes is below 2^48, which is exact in a double.
const fourDigits = 58 ** 4
const threeBytes = 2 ** 24
const twoDigits = 58 ** 2
// Maximum number of chunks of four digits: a signature has at most 88 digits.
const chunksMax = 22
const signatureBytes = 64

const pairs = Array.from(
  { length: twoDigits },
  (_, value) => `${alphabet[Math.floor(value / 58)]}${alphabet[value % 58]}`,
)
const chunks = new Float64Array(chunksMax)

/** Base58 of up to 64 bytes; empty for more. Written for speed: an audit encodes every signature of the ledger. */
export function base58Of(bytes: Uint8Array): string {
  if (bytes.length > signatureBytes) return ''
  let used = 0
  // Process groups of three bytes. The first group may be shorter.
  for (let end = bytes.length % 3 === 0 ? 3 : bytes.length % 3; end <= bytes.length; end += 3) {
    let carry = groupEndingAt(bytes, end)
    for (let index = 0; index < used; index++) {
      const value = (chunks[index] ?? 0) * threeBytes + carry
      carry = Math.floor(value / fourDigits)
      chunks[index] = value - carry * fourDigits
    }
    while (carry > 0) {
      chunks[used++] = carry % fourDigits
      carry = Math.floor(carry / fourDigits)
    }
  }
  return '1'.repeat(leadingZeros(bytes)) + digitsOf(used)
}

// Maximum of cached addresses: programs, mints, and the accounts of callers who pay again.
const addressesMax = 10_000
const addresses = new Map<string, string>()

/** Returns the text of an address. The text is cached, because the next transactions often name the same address. */
export function addressOf(bytes: Buffer): string {
  const name = bytes.toString('latin1')
  const known = addresses.get(name)
  if (known !== undefined) return known
  const address = base58Of(bytes)
  if (addresses.size >= addressesMax) addresses.clear()
  addresses.set(name, address)
  return address
}

function groupEndingAt(bytes: Uint8Array, end: number): number {
  let value = 0
  for (let at = Math.max(0, end - 3); at < end; at++) value = value * 256 + (bytes[at] ?? 0)
  return value
}

function digitsOf(used: number): string {
  let text = ''
  for (let index = used - 1; index >= 0; index--) {
    const chunk = chunks[index] ?? 0
    text += (pairs[Math.floor(chunk / twoDigits)] ?? '') + (pairs[chunk % twoDigits] ?? '')
  }
  let start = 0
  while (text.charCodeAt(start) === one) start++
  return text.slice(start)
}

const one = alphabet.charCodeAt(0)

function leadingZeros(bytes: Uint8Array): number {
  let count = 0
  while (count < bytes.length && bytes[count] === 0) count++
  return count
}
