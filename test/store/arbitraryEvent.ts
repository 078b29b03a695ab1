import fc from 'fast-check'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Address } from '@tollbook/core/address'
import type { FailureReason } from '../../src/payment/events/attemptEvents.ts'
import type { MarketEvidence } from '../../src/payment/events/settingEvents.ts'
import type { LedgerEvent } from '../../src/payment/events.ts'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'
import type { Price } from '@tollbook/core/quote'
import { type Signature, signatureOfBytes } from '@tollbook/core/signature'
import type { Settlement, SettlementEvidence } from '../../src/payment/settlement.ts'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { readAddress } from '@tollbook/core/address'
import { dollarSplit, split } from '../../src/pricing/split.ts'
import { defaultSplit, type SplitShare } from '../../src/pricing/splitSetting.ts'

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

const anyReference: fc.Arbitrary<PaymentReference> = anySignature.map(transactionReference)

// The largest amount of an SPL token.
const u64Max = 2n ** 64n - 1n
const anyBaseUnits = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: u64Max }))
const anyText = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed())
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })

/** Any policy of two to six accounts, the burn among them. */
export const anySplit: fc.Arbitrary<readonly SplitShare[]> = fc.oneof(
  fc.constant(defaultSplit),
  fc
    .uniqueArray(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 5 })
    .map((cuts) => [0, ...cuts.toSorted((one, other) => one - other), 1_000])
    .map((bounds) =>
      bounds.slice(1).map((bound, index): SplitShare => {
        const account = index === 1 ? 'burn' : `account-${index}`
        return { account, perMille: bound - (bounds[index] ?? 0) }
      }),
    ),
)

const undividedPrice = record({
  endpoint: anyText,
  priceMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  tokenPriceAttoUsd: fc.bigInt({ min: 1n, max: 10n ** 30n }),
  mint: anyAddress,
  decimals: fc.nat(18),
  requiredBaseUnits: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: u64Max })),
})

const anyTokenPrice: fc.Arbitrary<Price> = undividedPrice.chain((price) =>
  anySplit.map((policy) => ({ ...price, ...split(price.requiredBaseUnits, policy) })),
)

/** A price in dollars, of which nothing is burned. Its sale owes a burn in the token, or none. */
const anyDollarPrice: fc.Arbitrary<Price> = undividedPrice.chain((price) =>
  fc
    .tuple(anySplit, optional(record({ mint: anyAddress, baseUnits: fc.bigInt({ min: 1n, max: u64Max }) })))
    .map(([policy, tokenBurn]) => {
      const divided = { ...price, ...split(price.requiredBaseUnits, dollarSplit(policy)) }
      return tokenBurn === undefined ? divided : { ...divided, tokenBurn }
    }),
)

export const anyPrice = fc.oneof({ arbitrary: anyTokenPrice, weight: 3 }, { arbitrary: anyDollarPrice, weight: 1 })

export const anySettlement: fc.Arbitrary<Settlement> = record({
  reference: anyReference,
  wallet: anyAddress,
  price: anyPrice,
  quoteId: optional(anyText),
  memo: optional(anyText),
  burnedMore: anyBaseUnits,
  overpaid: anyBaseUnits,
  isPaidWhole: fc.boolean(),
  evidence: record<SettlementEvidence>({
    kind: fc.constant('solana'),
    slot: fc.nat(),
    blockTimeMs: fc.nat().map((seconds) => seconds * 1000),
    transactionBase64: optional(fc.base64String({ maxLength: 64 })),
  }),
}).map(({ burnedMore, overpaid, isPaidWhole, ...settlement }) => {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  const burnsNothing = isPaidWhole || burnBaseUnits === 0n
  const atMost = (amount: bigint): bigint => (amount > u64Max ? u64Max : amount)
  return {
    ...settlement,
    burnedBaseUnits: burnsNothing ? 0n : atMost(burnBaseUnits + burnedMore),
    receivedBaseUnits: atMost(requiredBaseUnits - (burnsNothing ? 0n : burnBaseUnits) + overpaid),
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
  fc.constantFrom('Liabilities:Share:provider', 'Liabilities:Share:holders', 'Liabilities:Share:referrer-2'),
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

const anyParts = fc.array(record({ endpoint: anyText, baseUnits: fc.bigInt({ min: 0n, max: u64Max / 4n }) }), {
  minLength: 1,
  maxLength: 3,
})

const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 2, stringUnit: 'grapheme' })
  .map((value): Json => JSON.parse(JSON.stringify(value)))

const anyDebt = record({ account: fc.stringMatching(/^Liabilities:[A-Za-z0-9:]{1,40}$/), baseUnits: anyBaseUnits })
const anyWords = anyText.filter((text) => text !== '')
const anyDecision = {
  payment: anyReference,
  wallet: anyAddress,
  mint: anyAddress,
  by: anyWords,
  role: fc.constantFrom('finance' as const, 'support' as const),
  login: anyWords,
  reason: anyWords,
}

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
  record({ kind: kind('BurnReversed'), mint: anyAddress, endpoint: anyText, burnedBaseUnits: anyBaseUnits }),
  record({ kind: kind('BurnOwed'), mint: anyAddress, endpoint: anyText, owedBaseUnits: anyBaseUnits }),
  record({ kind: kind('BurnOwedReversed'), mint: anyAddress, endpoint: anyText, owedBaseUnits: anyBaseUnits }),
  record({
    kind: kind('BurnOwed'),
    mint: anyAddress,
    endpoint: anyText,
    owedBaseUnits: anyBaseUnits,
    source: fc.constant('treasury' as const),
  }),
  record({ kind: kind('AttemptsExhausted'), attempts: attempt }),
  record({ kind: kind('AnswerStarted'), attempt, attemptId: anyText }),
  record({
    kind: kind('AnswerBroken'),
    attempt,
    attemptId: anyText,
    bytes: fc.nat(),
    digest,
    mint: anyAddress,
    exposedBaseUnits: anyBaseUnits,
  }),
  record({
    kind: kind('ProofClaimed'),
    attempt,
    attemptId: anyText,
    wallet: anyAddress,
    endpoint: anyText,
    orderDigest: digest,
    leaseMs: fc.nat(),
    mint: anyAddress,
    exposedBaseUnits: anyBaseUnits,
  }),
  record({
    kind: kind('RequestFulfilled'),
    attempt,
    attemptId: anyText,
    orderDigest: digest,
    answerDigest: digest,
  }),
  record({ kind: kind('DistributionAllocated'), mint: anyAddress, price: anyPrice }).map(
    ({ price: { shares }, ...event }) => ({ ...event, parts: shares }),
  ),
  record({
    kind: kind('TabCaptured'),
    attempt,
    answerDigest: digest,
    mint: anyAddress,
    burnBaseUnits: anyBaseUnits,
    price: anyPrice,
    returned: record({ tab: anyText, baseUnits: anyBaseUnits }),
  }).map(({ price: { shares }, ...event }) => ({ ...event, shares })),
  record({
    kind: kind('RequestFailed'),
    attempt,
    attemptId: anyText,
    reason: anyReason,
    mint: anyAddress,
    exposedBaseUnits: anyBaseUnits,
  }),
  record({ kind: kind('PaymentFinalized'), slot: fc.nat(), mint: anyAddress, exposedBaseUnits: anyBaseUnits }),
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
    burnOwedBaseUnits: anyBaseUnits,
    exposedBaseUnits: anyBaseUnits,
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
    kind: kind('TokensDelivered'),
    wallet: anyAddress,
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
      split: anySplit,
      prices: fc.array(anyPrice, { maxLength: 4 }),
      dollarSplits: fc.array(record({ mint: anyAddress, split: anySplit }), { maxLength: 2 }),
      evidence: anyEvidence,
    },
    { requiredKeys: ['kind', 'source', 'split', 'prices'], noNullPrototype: true },
  ),
  record({
    kind: kind('SettingChanged'),
    name: anyText,
    number: attempt,
    validFrom: fc.nat().map((seconds) => new Date(seconds * 1000).toISOString()),
    value: anyJson,
  }),
  record({
    kind: kind('BurnSubmitted'),
    round: attempt,
    mint: anyAddress,
    throughPosition: attempt,
    burnBaseUnits: anyBaseUnits,
    parts: anyParts,
    lastValidHeight: attempt,
    delegate: record({ allowanceBaseUnits: anyBaseUnits, lamports: anyBaseUnits }),
    transactionBase64: fc.base64String(),
  }),
  record({
    kind: kind('BurnFailed'),
    round: attempt,
    mint: anyAddress,
    reason: fc.constantFrom('absent' as const, 'failed' as const),
    finalizedSlot: fc.nat(),
  }),
  record({ kind: kind('BurnConfirmed'), round: attempt, mint: anyAddress, slot: fc.nat(), parts: anyParts }).map(
    (event) => ({ ...event, burnedBaseUnits: event.parts.reduce((sum, { baseUnits }) => sum + baseUnits, 0n) }),
  ),
  record({ kind: kind('RefundApproved'), ...anyDecision, debts: fc.array(anyDebt, { maxLength: 3 }) }),
  record({ kind: kind('RefundGranted'), ...anyDecision, amountBaseUnits: anyBaseUnits }),
  record({
    kind: kind('HolderPayoutPlanned'),
    rule: fc.constant('pro-rata-1' as const),
    planId: anyText,
    mint: anyAddress,
    account: anyPayable,
    amountBaseUnits: anyBaseUnits,
    snapshotSha256: anyText,
    snapshotSlot: fc.nat(),
    excluded: fc.array(anyAddress, { maxLength: 3 }),
    minimumBaseUnits: anyBaseUnits,
    openAccountsMax: fc.nat(),
    lines: fc.nat(),
    parts: fc.nat(),
  }),
  record({ kind: kind('HolderPayoutEnded'), planId: anyText, mint: anyAddress, paidBaseUnits: anyBaseUnits }),
)
