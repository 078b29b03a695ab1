import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { parseBaseUnits } from '@tollbook/core/money'
import { isoTime } from '@tollbook/core/clock'
import { type Address, readAddress } from '@tollbook/core/address'
import type { LedgerEvent, MarketEvidence } from './events.ts'
import type { Price } from '@tollbook/core/quote'
import type { Settlement } from './settlement.ts'
import { readSignature } from '@tollbook/core/signature'

/*
 * Events as bytes. The body is the truth of the ledger: RFC 8785 JSON in UTF-8, written once, hashed, and never written
 * again. Base units are decimal strings. Reading upcasts old schema versions; writing knows only the newest.
 */

export interface EventHeader {
  /** The base58 signature of a payment, or the name of another stream. */
  readonly stream: string
  /** 1, 2, 3… within the stream. */
  readonly version: number
  /** When it happened in the world, as opposed to when it was recorded. */
  readonly effectiveAtMs: number
}

export const schemaVersion = 1

export function encodeEvent(event: LedgerEvent, header: EventHeader): string {
  const { kind, ...fields } = event
  return canonicalJson({
    kind,
    schemaVersion,
    stream: header.stream,
    version: header.version,
    effectiveAt: isoTime(header.effectiveAtMs),
    ...toJson(fields),
  })
}

export interface DecodedEvent extends EventHeader {
  readonly event: LedgerEvent
}

/** Parses a body that the ledger holds. A body that does not parse is a bug or a tampered row, never a caller's mistake. */
export function decodeEvent(body: string): DecodedEvent {
  const parsed = storedEvent.parse(JSON.parse(body))
  const { schemaVersion: found, stream, version, effectiveAt, ...event } = parsed
  assert(found === schemaVersion, `event schema version ${schemaVersion} is read, not ${found}`)
  return { stream, version, effectiveAtMs: Date.parse(effectiveAt), event }
}

/** Bigints become decimal strings, undefined becomes null: JSON has neither. */
function toJson(fields: object): { [key: string]: Json } {
  const entries = Object.entries(fields).map(([key, value]): [string, Json] => [key, jsonValue(value)])
  return Object.fromEntries(entries)
}

function jsonValue(value: unknown): Json {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(jsonValue)
  assert(typeof value === 'object', 'an event holds only plain data')
  return toJson(value)
}

const baseUnits = z.string().transform(parseBaseUnits)
const bigInteger = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt)
const optionalText = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined)
const address = z.string().transform((text, context): Address => {
  const read = readAddress(text)
  if (read !== undefined) return read
  context.addIssue('not an address')
  return z.NEVER
})
const signature = z.string().transform((text, context) => {
  const read = readSignature(text)
  if (read !== undefined) return read
  context.addIssue('not a signature')
  return z.NEVER
})

const price: z.ZodType<Price> = z.object({
  endpoint: z.string(),
  priceMicroUsd: bigInteger,
  tokenPriceAttoUsd: bigInteger,
  mint: address,
  decimals: z.int().min(0).max(18),
  requiredBaseUnits: baseUnits,
  burnBaseUnits: baseUnits,
  providerBaseUnits: baseUnits,
  holdersBaseUnits: baseUnits,
  treasuryBaseUnits: baseUnits,
})

const settlement: z.ZodType<Settlement> = z.object({
  signature,
  wallet: address,
  price,
  quoteId: optionalText,
  memo: optionalText,
  burnedBaseUnits: baseUnits,
  receivedBaseUnits: baseUnits,
  slot: z.int(),
  blockTimeMs: z.int(),
  transactionBase64: optionalText,
})

// Came after the first release without a new schema version: whoever does not know it loses nothing that moves money, and
// a list without it has the bytes that it always had.
const marketEvidence: z.ZodType<MarketEvidence> = z.object({
  agreedAtMs: z.int(),
  tokenPriceAttoUsd: bigInteger,
  readings: z.array(
    z.object({
      source: z.string(),
      tokenPriceAttoUsd: bigInteger,
      liquidityUsd: bigInteger.nullable().transform((usd) => usd ?? undefined),
    }),
  ),
  silent: z.array(z.object({ source: z.string(), why: z.string() })),
})

const attempt = z.int().min(1)
const failureReason = z.enum([
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
])

const header = { schemaVersion: z.int(), stream: z.string(), version: z.int().min(1), effectiveAt: z.iso.datetime() }

const storedEvent = z.discriminatedUnion('kind', [
  z.object({
    ...header,
    kind: z.literal('PaymentSubmitted'),
    wallet: address,
    endpoint: z.string(),
    quoteId: optionalText,
    transactionBase64: z.string(),
  }),
  z.object({ ...header, kind: z.literal('PaymentVerified'), settlement }),
  z.object({
    ...header,
    kind: z.literal('TokensBurned'),
    mint: address,
    endpoint: z.string(),
    burnedBaseUnits: baseUnits,
  }),
  z.object({
    ...header,
    kind: z.literal('ProofClaimed'),
    attempt,
    attemptId: z.string(),
    wallet: address,
    endpoint: z.string(),
    orderDigest: z.string(),
    leaseMs: z.int(),
  }),
  z.object({
    ...header,
    kind: z.literal('RequestFulfilled'),
    attempt,
    attemptId: z.string(),
    orderDigest: z.string(),
    answerDigest: z.string(),
  }),
  z.object({
    ...header,
    kind: z.literal('DistributionAllocated'),
    mint: address,
    providerBaseUnits: baseUnits,
    holdersBaseUnits: baseUnits,
    treasuryBaseUnits: baseUnits,
  }),
  z.object({ ...header, kind: z.literal('RequestFailed'), attempt, attemptId: z.string(), reason: failureReason }),
  z.object({ ...header, kind: z.literal('PaymentFinalized'), slot: z.int() }),
  z.object({
    ...header,
    kind: z.literal('PaymentReversed'),
    reason: z.enum(['absent', 'failed']),
    finalizedSlot: z.int(),
    wallet: address,
    mint: address,
    endpoint: z.string(),
    unearnedBaseUnits: baseUnits,
    lostBaseUnits: baseUnits,
    overpaidBaseUnits: baseUnits,
    burnedBaseUnits: baseUnits,
  }),
  z.object({ ...header, kind: z.literal('RefundDue'), wallet: address, mint: address, refundBaseUnits: baseUnits }),
  z.object({
    ...header,
    kind: z.literal('TransferReceived'),
    wallet: address.nullable().transform((wallet) => wallet ?? undefined),
    mint: address,
    receivedBaseUnits: baseUnits,
    slot: z.int(),
  }),
  z.object({
    ...header,
    kind: z.literal('DistributionPaid'),
    signature,
    planId: z.string(),
    part: z.int().min(1),
    mint: address,
    slot: z.int(),
    payments: z.array(z.object({ account: z.string(), wallet: address, paidBaseUnits: baseUnits })),
  }),
  z.object({
    ...header,
    kind: z.literal('PriceListPublished'),
    source: z.string(),
    prices: z.array(price),
    evidence: marketEvidence.exactOptional(),
  }),
])
