import { z } from 'zod'
import { canonicalJson } from '@tollbook/core/canonicalJson'
import { displayNumber, divideRoundingDown, formatDecimal, parseBaseUnits } from '@tollbook/core/money'
import { readAddress } from '@tollbook/core/address'
import { readSignature } from '@tollbook/core/signature'
import { receiptBody } from '@tollbook/core/wire'
import { burnShareOf, perMilleOf, specifiedBurnPercent, wholePerMille } from './burnShare.ts'
import { plainData } from './plainData.ts'
import { parseJson } from './readBody.ts'
import { findSigned, isInPeriod, type KeyWithId, readHeader, readKeys } from './serviceKeys.ts'

export type VerifiedReceipt = z.infer<typeof receiptBody>

export interface ReceiptQuestion {
  /** The `receipt` member of an answer, from any source. */
  readonly receipt: unknown
  /** Public keys of the service, as a JWK or a JWKS. Fetch them from the service once and store them. */
  readonly keys: unknown
  /** Expected content of the receipt, in addition to the checks of every receipt. */
  readonly expected?: ExpectedReceipt
}

/** Each given member must match the receipt. */
export interface ExpectedReceipt {
  readonly wallet?: string
  readonly endpoint?: string
  readonly signature?: string
  /** Expected burn in percent. Absent: a receipt without a split must burn the 30 % of the specification. */
  readonly burnPercent?: number
}

export type ReceiptProblem =
  /** The value is not a receipt of this service, or its `reissuedAt` is before its `issuedAt`. */
  | 'malformed'
  | 'keys_malformed'
  | 'key_unknown'
  | 'signature_invalid'
  | 'key_out_of_period'
  | 'payload_differs'
  | 'amounts_wrong'
  | 'other_wallet'
  | 'other_endpoint'
  | 'other_signature'
  | 'other_burn'

export type ReceiptVerdict =
  | { readonly valid: true; readonly receipt: VerifiedReceipt }
  | { readonly valid: false; readonly problem: ReceiptProblem; readonly message: string }

/**
 * Checks a receipt. Needs only the public key of the service. Makes no request, and never throws.
 *
 * @example
 *   import { verifyReceipt } from '@tollbook/client'
 *
 *   export async function requireReceipt(receipt: unknown, keys: unknown): Promise<void> {
 *     const verdict = await verifyReceipt({ receipt, keys, expected: { endpoint: '/api/data/crypto' } })
 *     if (!verdict.valid) throw new Error(`${verdict.problem}: ${verdict.message}`)
 *   }
 */
export async function verifyReceipt({ receipt, keys, expected = {} }: ReceiptQuestion): Promise<ReceiptVerdict> {
  const read = readReceipt(receipt)
  if (read === undefined) return invalid('malformed', 'it is not a receipt of this service')
  const known = await readKeys(keys)
  if (known === undefined) return invalid('keys_malformed', 'the key is not an Ed25519 JWK or a set of them')
  const header = jwsHeader.safeParse(readHeader(read.jws)).data
  if (header === undefined)
    return invalid('signature_invalid', 'its jws is not a compact EdDSA JWS of a tollbook-receipt')
  const ofKid = known.find(({ kid }) => kid === header.kid)
  // Try all keys if none has the key ID of the receipt, because a newer key set may lack this ID. The operator chooses
  // key IDs.
  const signed = await findSigned(read.jws, ofKid === undefined ? known : [ofKid])
  if (signed === undefined && ofKid === undefined)
    return invalid('key_unknown', `it is signed with the key ${header.kid}, which is not given`)
  if (signed === undefined) return invalid('signature_invalid', 'the signature does not hold')
  return (
    checkPayload(read, signed.payload) ??
    checkPeriod(read, signed.key) ??
    checkAmounts(read, expected.burnPercent) ??
    checkExpected(read, expected) ?? { valid: true, receipt: read }
  )
}

/**
 * Checks the times of the receipt. The key must have been valid when it signed. A receipt from an earlier period is
 * signed again by a newer key, and states the time in `reissuedAt`.
 */
function checkPeriod({ issuedAt, reissuedAt }: VerifiedReceipt, key: KeyWithId): ReceiptVerdict | undefined {
  const signedAt = reissuedAt ?? issuedAt
  if (Date.parse(signedAt) < Date.parse(issuedAt))
    return invalid('malformed', `it was reissued at ${signedAt}, before it was issued at ${issuedAt}`)
  return isInPeriod(key, Date.parse(signedAt))
    ? undefined
    : invalid('key_out_of_period', `the key ${key.kid} was not valid at ${signedAt}`)
}

function invalid(problem: ReceiptProblem, message: string): ReceiptVerdict {
  return { valid: false, problem, message }
}

function readReceipt(value: unknown): VerifiedReceipt | undefined {
  const { data } = receiptBody.safeParse(plainData(value))
  if (data === undefined) return undefined
  const actual = readAddress(data.wallet) !== undefined && readSignature(data.signature) !== undefined
  return actual ? data : undefined
}

const jwsHeader = z.object({ alg: z.literal('EdDSA'), kid: z.string(), typ: z.literal('tollbook-receipt') })

const signedReceipt = receiptBody.omit({ jws: true })

/**
 * Compares the shown fields with the signed ones. Unknown fields are omitted on both sides, although they may be
 * signed.
 */
function checkPayload({ jws: _jws, ...shown }: VerifiedReceipt, payload: Uint8Array): ReceiptVerdict | undefined {
  const { data } = signedReceipt.safeParse(parseJson(payload))
  const [signed, offered] = [data, shown].map(canonicalText)
  return signed !== undefined && signed === offered
    ? undefined
    : invalid('payload_differs', 'its fields are not the ones that were signed')
}

/** Undefined for half of a surrogate pair, which has no canonical text and so cannot have been signed. */
function canonicalText(value: Omit<VerifiedReceipt, 'jws'> | undefined): string | undefined {
  try {
    return value === undefined ? undefined : canonicalJson(value)
  } catch {
    return undefined
  }
}

function checkAmounts(receipt: VerifiedReceipt, burnPercent: number | undefined): ReceiptVerdict | undefined {
  const requiredBaseUnits = parseBaseUnits(receipt.requiredBaseUnits)
  const distribution = Object.entries(receipt.distribution)
  const distributedBaseUnits = distribution.reduce((sum, [, text]) => sum + parseBaseUnits(text), 0n)
  const burnShareBaseUnits = requiredBaseUnits - distributedBaseUnits
  const listed = receipt.split ?? { burn: `${burnPercent ?? specifiedBurnPercent}%` }
  const split = receipt.currency === undefined ? listed : dollarSplitOf(receipt.currency.split ?? listed)
  const burnPerMille = perMilleOf(split['burn'] ?? '')
  if (burnPerMille === undefined || requiredBaseUnits <= 0n)
    return invalid('amounts_wrong', 'its split has no share for the burn, or nothing was required')
  if (burnShareBaseUnits !== burnShareOf(requiredBaseUnits, burnPerMille))
    return invalid('amounts_wrong', 'the distribution and the burn do not add up to the required amount')
  if (receipt.split !== undefined && !isSplitBy(receipt, split))
    return invalid('amounts_wrong', 'the distribution is not the split of the required amount')
  const isOwed = receipt.burnOwed !== undefined && parseBaseUnits(receipt.burnOwed) === burnShareBaseUnits
  if (parseBaseUnits(receipt.burned) < burnShareBaseUnits && !isOwed)
    return invalid('amounts_wrong', 'less was burned than the burn share, and the rest is not owed')
  const isScaled = tokenScales.some((scale) => displayNumber(requiredBaseUnits, scale) === receipt.requiredTokens)
  return isScaled ? undefined : invalid('amounts_wrong', 'requiredTokens and requiredBaseUnits are not one amount')
}

/** Returns the split of a payment in dollars. Nothing is burned, and the treasury gets the share of the burn instead. */
function dollarSplitOf({ burn = '0%', ...shares }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const treasuryPerMille = (perMilleOf(shares['treasury'] ?? '0%') ?? 0n) + (perMilleOf(burn) ?? 0n)
  return { ...shares, treasury: `${formatDecimal(treasuryPerMille, 1)}%`, burn: '0%' }
}

/**
 * True if the amounts follow the split. Each share is rounded down, and the operator's first account gets the
 * remainder. Canonical JSON does not preserve the order, so any one account may have the remainder.
 */
function isSplitBy(
  { requiredBaseUnits, distribution }: VerifiedReceipt,
  split: Readonly<Record<string, string>>,
): boolean {
  const wholeBaseUnits = parseBaseUnits(requiredBaseUnits)
  const shares = Object.entries(split).filter(([account]) => account !== 'burn')
  const perMilles = Object.values(split).map(perMilleOf)
  const sumPerMille = perMilles.reduce<bigint>((total, perMille) => total + (perMille ?? wholePerMille + 1n), 0n)
  if (sumPerMille !== wholePerMille || shares.length !== Object.keys(distribution).length) return false
  const differing = shares.filter(([account, percent]) => {
    const baseUnits = divideRoundingDown(wholeBaseUnits * (perMilleOf(percent) ?? 0n), wholePerMille)
    return distribution[account] !== baseUnits.toString()
  })
  return differing.length <= 1
}

// Decimals that the mint may have, because the receipt does not state them.
const tokenScales = Array.from({ length: 19 }, (_, scale) => scale)

function checkExpected(receipt: VerifiedReceipt, { wallet, endpoint, signature, burnPercent }: ExpectedReceipt) {
  return (
    checkName('other_wallet', receipt.wallet, wallet) ??
    checkName('other_endpoint', receipt.endpoint, endpoint) ??
    checkName('other_signature', receipt.signature, signature) ??
    checkName('other_burn', receipt.split?.['burn'], burnPercent === undefined ? undefined : `${burnPercent}%`)
  )
}

/** A missing `split` is accepted here, because the check of the amounts has already used the expected burn. */
function checkName(
  problem: ReceiptProblem,
  actual: string | undefined,
  expected: string | undefined,
): ReceiptVerdict | undefined {
  return expected === undefined || actual === undefined || actual === expected
    ? undefined
    : invalid(problem, `it names ${actual}, and ${expected} is expected`)
}
