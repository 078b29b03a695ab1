import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf, newId } from '@tollbook/core/id'
import { type Address, readAddress } from '@tollbook/core/address'
import { decideClaim, decideFulfil, decideRelease } from '../../src/payment/attempt.ts'
import type { Order, PaymentState } from '../../src/payment/payment.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import type { PaymentChange } from '../../src/payment/paymentLedger.ts'
import type { Price, Quote } from '@tollbook/core/quote'
import { isRefusal } from '@tollbook/core/refusal'
import type { Settlement, SettlementEvidence } from '../../src/payment/settlement.ts'
import { signatureOfBytes } from '@tollbook/core/signature'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { type PaymentReference, transactionReference } from '../../src/payment/paymentReference.ts'

/* Payments as the paywall would hand them to the ledger, with everything about them made up but consistent. */

export const sampleMint = sampleAddress()

export function sampleAddress(): Address {
  return assertPresent(readAddress(encodeBase58(randomBytesOf(32))), '32 bytes are an address')
}

export function sampleReference(): PaymentReference {
  return transactionReference(assertPresent(signatureOfBytes(randomBytesOf(64)), '64 bytes are a signature'))
}

export function samplePrice(endpoint = '/api/data/weather', requiredBaseUnits = 10_000_000n): Price {
  return {
    endpoint,
    priceMicroUsd: 10_000n,
    tokenPriceAttoUsd: 10n ** 15n,
    mint: sampleMint,
    decimals: 6,
    requiredBaseUnits,
    ...split(requiredBaseUnits, defaultSplit),
  }
}

export function sampleSettlement(given: Partial<Settlement> = {}): Settlement {
  const price = given.price ?? samplePrice()
  return {
    reference: sampleReference(),
    wallet: sampleAddress(),
    price,
    quoteId: newId('quote'),
    memo: undefined,
    burnedBaseUnits: price.burnBaseUnits,
    receivedBaseUnits: price.requiredBaseUnits - price.burnBaseUnits,
    evidence: sampleEvidence(),
    ...given,
  }
}

export function sampleEvidence(given: Partial<SettlementEvidence> = {}): SettlementEvidence {
  const blockTimeMs = Date.parse('2026-11-21T10:00:00.000Z')
  return { kind: 'solana', slot: 1_000, blockTimeMs, transactionBase64: sampleTransaction, ...given }
}

// A payment with memo, burn and transfer is 405 bytes on the wire.
const sampleTransaction = Buffer.alloc(405, 7).toString('base64')

export function sampleQuote(given: Partial<Quote> = {}): Quote {
  const issuedAtMs = given.issuedAtMs ?? Date.now()
  return {
    ...samplePrice(),
    priceList: 1,
    id: newId('quote'),
    wallet: sampleAddress(),
    memo: `tollbook:${Buffer.from(randomBytesOf(32)).toString('base64url')}`,
    issuedAtMs,
    expiresAtMs: issuedAtMs + 300_000,
    slot: 1_000,
    ...given,
  }
}

export interface SampleClaim {
  readonly attemptId: string
  readonly change: PaymentChange
}

export interface ClaimOptions {
  readonly before?: PaymentState
  readonly leaseMs?: number
  readonly nowMs?: number
  readonly order?: Partial<Order>
  readonly idempotencyKey?: string
}

/** The change that claims the settlement, decided by the code under test on `before`. */
export function claimOf(settlement: Settlement, options: ClaimOptions = {}): SampleClaim {
  const { before = unknownPayment, leaseMs = 60_000, nowMs = Date.now(), idempotencyKey } = options
  const order = orderOf(settlement, options.order)
  const attemptId = newId('attempt')
  const decision = decideClaim(before, { order, settlement, attemptId, leaseMs, attemptsMax: 10, nowMs })
  if (isRefusal(decision)) throw new Error(`the sample claim was refused: ${decision.message}`)
  const idempotency =
    idempotencyKey === undefined
      ? {}
      : { idempotency: { wallet: order.wallet, key: idempotencyKey, orderDigest: order.digest } }
  return { attemptId, change: { reference: settlement.reference, before, ...decision, nowMs, ...idempotency } }
}

function orderOf(settlement: Settlement, given: Partial<Order> = {}): Order {
  return { wallet: settlement.wallet, endpoint: settlement.price.endpoint, digest: 'ab'.repeat(32), ...given }
}

export interface EndOptions {
  readonly before: PaymentState
  readonly attemptId: string
  readonly idempotency?: PaymentChange['idempotency']
  readonly answerJson?: string
}

export function fulfilmentOf(settlement: Settlement, options: EndOptions): PaymentChange {
  const { before, attemptId, idempotency, answerJson } = options
  const decision = decideFulfil(before, { attemptId, orderDigest: 'ab'.repeat(32), answerDigest: 'cd'.repeat(32) })
  return {
    reference: settlement.reference,
    before,
    ...assertPresent(decision, 'the attempt is live'),
    nowMs: Date.now(),
    ...(idempotency === undefined ? {} : { idempotency }),
    ...(answerJson === undefined ? {} : { answerJson }),
  }
}

export function releaseOf(settlement: Settlement, { before, attemptId }: EndOptions): PaymentChange {
  const decision = decideRelease(before, { attemptId, reason: 'upstream_failed', attemptsMax: 10 })
  return {
    reference: settlement.reference,
    before,
    ...assertPresent(decision, 'the attempt is live'),
    nowMs: Date.now(),
  }
}
