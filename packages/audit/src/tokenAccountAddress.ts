import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { AuditFault } from './auditFault.ts'

/*
 * Derives the associated token account of a wallet by the public rule of Solana's programs. The address is a SHA-256 of
 * the seeds and a bump byte that counts down from 255. The first hash that is not a point of the curve is the address,
 * so no private key exists for it.
 */

const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const addressBytes = 32

export const addressForm = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

export interface TokenAccountOwner {
  readonly wallet: string
  readonly tokenProgram: string
  readonly mint: string
}

/** Returns the address in base58. Throws an `AuditFault` if an address is invalid. */
export function associatedTokenAccount({ wallet, tokenProgram, mint }: TokenAccountOwner): string {
  const seeds = [wallet, tokenProgram, mint].map(decode)
  for (let bump = 255; bump >= 0; bump--) {
    const hashed = createHash('sha256')
    for (const seed of [...seeds, Buffer.of(bump), decode(associatedTokenProgram)]) hashed.update(seed)
    const address = hashed.update('ProgramDerivedAddress').digest()
    if (!isOnCurve(address)) return base58.encode(address)
  }
  throw new AuditFault(`the wallet ${wallet} has no associated token account`, { retryable: false })
}

/** True if the text is 32 bytes in base58: the address of an account, or a public key. */
export function isAddress(text: string): boolean {
  return addressForm.test(text) && base58.decode(text).length === addressBytes
}

function decode(address: string): Uint8Array {
  if (!isAddress(address)) throw new AuditFault(`${address} is not an address`, { retryable: false })
  return base58.decode(address)
}

// Ed25519 (RFC 8032, 5.1): the prime of the field, and the constant d of the curve.
const prime = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** True if the curve has a point with this y. Then x² = (y² - 1) / (d y² + 1) is a square (Euler's criterion). */
function isOnCurve(bytes: Buffer): boolean {
  const little = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
  const y = little & (2n ** 255n - 1n)
  const ySquared = (y * y) % prime
  const numerator = (ySquared - 1n + prime) % prime
  const denominator = (d * ySquared + 1n) % prime
  // Test the product instead of the quotient, because both are squares in the same cases and the product needs no
  // division.
  const product = (numerator * denominator) % prime
  return product === 0n || power(product, (prime - 1n) / 2n) === 1n
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) result = (result * square) % prime
    square = (square * square) % prime
  }
  return result
}
