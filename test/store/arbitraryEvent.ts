import fc from 'fast-check'
import type { Address } from '@tollbook/core/address'
import type { FailureReason, LedgerEvent, MarketEvidence } from '../../src/payment/events.ts'
import type { Price } from '@tollbook/core/quote'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { Settlement } from '../../src/payment/settlement.ts'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { readAddress } from '@tollbook/core/address'
import { split } from '../../src/pricing/split.ts'

/* Any event that the types allow, within the ranges that the chain and the price list allow. */

/** As our own code makes objects: with the ordinary prototype. */
function record<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true })
}

export const anyAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => assertPresent(readAddress(encodeBase58(bytes)), '32 bytes are an address'))

const anySignature: fc.Arbitrary<Signature> = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .filter((bytes) => bytes.some((byte) => byte !== 0))
  .map((bytes) => assertPresent(signatureOfBytes(bytes), '64 bytes are a signature'))

// The largest amount of an SPL token.
const u64Max = 2n ** 64n - 1n
const anyBaseUnits = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: u64Max }))
const anyText = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed())
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })

export const anyPrice: fc.Arbitrary<Price> = record({
  endpoint: anyText,
  priceMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  tokenPriceAttoUsd: fc.bigInt({ min: 1n, max: 10n ** 30n }),
  mint: anyAddress,
  decimals: fc.nat(18),
  requiredBaseUnits: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: u64Max })),
}).map((price) => ({ ...price, ...split(price.requiredBaseUnits) }))

export const anySettlement: fc.Arbitrary<Settlement> = record({
  signature: anySignature,
  wallet: anyAddress,
  price: anyPrice,
  quoteId: optional(anyText),
  memo: optional(anyText),
  burnedMore: anyBaseUnits,
  overpaid: anyBaseUnits,
  slot: fc.nat(),
  blockTimeMs: fc.nat().map((seconds) => seconds * 1000),
  transactionBase64: optional(fc.base64String({ maxLength: 64 })),
}).map(({ burnedMore, overpaid, ...settlement }) => {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  const atMost = (amount: bigint): bigint => (amount > u64Max ? u64Max : amount)
  return {
    ...settlement,
    burnedBaseUnits: atMost(burnBaseUnits + burnedMore),
    receivedBaseUnits: atMost(requiredBaseUnits - burnBaseUnits + overpaid),
  }
})

const reasons = [
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
] as const satisfies readonly FailureReason[]
const anyReason = fc.constantFrom(...reasons)
const attempt = fc.integer({ min: 1, max: 1_000 })
const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'))
const kind = <const K extends LedgerEvent['kind']>(name: K) => fc.constant(name)

const anyPayable = fc.oneof(
  fc.constantFrom('Liabilities:Provider', 'Liabilities:Holders', 'Liabilities:Treasury'),
  fc
    .tuple(fc.constantFrom('Overpaid', 'RefundsDue', 'Unmatched'), anyAddress)
    .map(([name, wallet]) => `Liabilities:${name}:${wallet}`),
)

const anyEvidence: fc.Arbitrary<MarketEvidence> = record({
  agreedAtMs: fc.nat(),
  tokenPriceAttoUsd: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  readings: fc.array(
    record({
      source: anyText,
      tokenPriceAttoUsd: fc.bigInt({ min: 1n, max: 10n ** 24n }),
      liquidityUsd: optional(anyBaseUnits),
    }),
    { maxLength: 3 },
  ),
  silent: fc.array(record({ source: anyText, why: anyText }), { maxLength: 3 }),
})

export const anyEvent: fc.Arbitrary<LedgerEvent> = fc.oneof(
  record({
    kind: kind('PaymentSubmitted'),
    wallet: anyAddress,
    endpoint: anyText,
    quoteId: optional(anyText),
    transactionBase64: fc.base64String(),
  }),
  record({ kind: kind('PaymentVerified'), settlement: anySettlement }),
  record({ kind: kind('TokensBurned'), mint: anyAddress, endpoint: anyText, burnedBaseUnits: anyBaseUnits }),
  record({
    kind: kind('ProofClaimed'),
    attempt,
    attemptId: anyText,
    wallet: anyAddress,
    endpoint: anyText,
    orderDigest: digest,
    leaseMs: fc.nat(),
  }),
  record({
    kind: kind('RequestFulfilled'),
    attempt,
    attemptId: anyText,
    orderDigest: digest,
    answerDigest: digest,
  }),
  record({ kind: kind('DistributionAllocated'), mint: anyAddress, price: anyPrice }).map(
    ({ price: { providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }, ...event }) => {
      return { ...event, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits }
    },
  ),
  record({ kind: kind('RequestFailed'), attempt, attemptId: anyText, reason: anyReason }),
  record({ kind: kind('PaymentFinalized'), slot: fc.nat() }),
  record({
    kind: kind('PaymentReversed'),
    reason: fc.constantFrom('absent' as const, 'failed' as const),
    finalizedSlot: fc.nat(),
    wallet: anyAddress,
    mint: anyAddress,
    endpoint: anyText,
    unearnedBaseUnits: anyBaseUnits,
    lostBaseUnits: anyBaseUnits,
    overpaidBaseUnits: anyBaseUnits,
    burnedBaseUnits: anyBaseUnits,
  }),
  record({ kind: kind('RefundDue'), wallet: anyAddress, mint: anyAddress, refundBaseUnits: anyBaseUnits }),
  record({
    kind: kind('TransferReceived'),
    wallet: optional(anyAddress),
    mint: anyAddress,
    receivedBaseUnits: anyBaseUnits,
    slot: fc.nat(),
  }),
  record({
    kind: kind('DistributionPaid'),
    signature: anySignature,
    planId: anyText,
    part: attempt,
    mint: anyAddress,
    slot: fc.nat(),
    payments: fc.array(
      record({ account: anyPayable, wallet: anyAddress, paidBaseUnits: fc.bigInt({ min: 1n, max: u64Max }) }),
      { maxLength: 4 },
    ),
  }),
  fc.record(
    {
      kind: kind('PriceListPublished'),
      source: anyText,
      prices: fc.array(anyPrice, { maxLength: 4 }),
      evidence: anyEvidence,
    },
    { requiredKeys: ['kind', 'source', 'prices'], noNullPrototype: true },
  ),
)
