import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { accounts, shareOf } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import type { Address } from '@tollbook/core/address'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, attempt, attemptId, baseUnits, shares } from './fields.ts'

const live = {
  attempt,
  /** Shows, after a lost database answer, whether the recorded claim belongs to this request. */
  attemptId,
}

/**
 * No handler runs for a payment on the chain without this event (I2). The attempt has the exclusive right to run it
 * until its lease ends. A debit of a tab has `TabDebited` instead.
 */
const proofClaimed = defineEvent(
  z.object({
    kind: z.literal('ProofClaimed'),
    ...live,
    wallet: address,
    endpoint: z.string(),
    /** SHA-256 in hex of method, path, canonical parameters, raw body and passed headers (paywall/lookUpPayment.ts). */
    orderDigest: z.string(),
    leaseMs: z.int(),
    mint: address,
    /** The price, if the chain can still drop the payment. Otherwise 0. */
    exposedBaseUnits: baseUnits,
  }),
  ({ mint, exposedBaseUnits }) => [
    { debit: accounts.exposed, credit: accounts.exposedContra, mint, amountBaseUnits: exposedBaseUnits },
  ],
)
export type ProofClaimed = EventOf<typeof proofClaimed>

/** Recorded before the first byte of a streamed answer leaves. It renews the lease. */
const answerStarted = defineEvent(z.object({ kind: z.literal('AnswerStarted'), ...live }))
export type AnswerStarted = EventOf<typeof answerStarted>

export const unexposedFields = {
  mint: address,
  exposedBaseUnits: baseUnits,
}

interface Unexposed {
  readonly mint: Address
  readonly exposedBaseUnits: bigint
}

/**
 * Returns the posting that ends an exposure. The two accounts are a memorandum of possible losses and never hold
 * tokens.
 */
export function unexposed({ mint, exposedBaseUnits }: Unexposed): readonly Posting[] {
  assert(exposedBaseUnits >= 0n, 'no less than nothing is exposed')
  return [{ debit: accounts.exposedContra, credit: accounts.exposed, mint, amountBaseUnits: exposedBaseUnits }]
}

/** The streamed answer was incomplete, so the proof can be used again (I4), unless this was the last attempt. */
const answerBroken = defineEvent(
  z.object({
    kind: z.literal('AnswerBroken'),
    ...live,
    ...unexposedFields,
    bytes: z.int().min(0),
    digest: z.string(),
  }),
  unexposed,
)
export type AnswerBroken = EventOf<typeof answerBroken>

/** `isEstimated`: the service estimated the tokens, because the upstream did not report them. */
export const usage = z.object({ input: z.int().min(0), output: z.int().min(0), isEstimated: z.boolean() })
export type Usage = Readonly<z.output<typeof usage>>

/** Marks a delivery. A debit of a tab has `TabCaptured` instead. */
export const requestFulfilled = defineEvent(
  z.object({
    kind: z.literal('RequestFulfilled'),
    ...live,
    orderDigest: z.string(),
    /** SHA-256 in hex of `{data, meta}` as sent. For a raw answer or a stream: of its bytes. */
    answerDigest: z.string(),
  }),
)
export type RequestFulfilled = EventOf<typeof requestFulfilled>

export const distributionAllocated = defineEvent(
  z.object({ kind: z.literal('DistributionAllocated'), mint: address, parts: shares }),
  ({ mint, parts }) =>
    parts.map((part): Posting => ({
      debit: accounts.unearned,
      credit: shareOf(part.account),
      mint,
      amountBaseUnits: part.baseUnits,
    })),
)
export type DistributionAllocated = EventOf<typeof distributionAllocated>

const failureReasons = [
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
  'tab_limit',
] as const

export type FailureReason = (typeof failureReasons)[number]

/** Nothing was delivered, so the proof can be used again (I4), unless this was the last attempt. */
const requestFailed = defineEvent(
  z.object({ kind: z.literal('RequestFailed'), ...live, ...unexposedFields, reason: z.enum(failureReasons) }),
  unexposed,
)
export type RequestFailed = EventOf<typeof requestFailed>

const attemptsExhausted = defineEvent(z.object({ kind: z.literal('AttemptsExhausted'), attempts: attempt }))

export const attemptEvents = [
  proofClaimed,
  answerStarted,
  answerBroken,
  requestFulfilled,
  distributionAllocated,
  requestFailed,
  attemptsExhausted,
] as const
