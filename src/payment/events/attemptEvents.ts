import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { accounts, shareOf } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import type { Address } from '@tollbook/core/address'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, attempt, attemptId, baseUnits, shares } from './fields.ts'

/* One attempt to serve an order for a payment, from its claim to its end. */

const live = {
  attempt,
  /**
   * Identifies the process and the request that made the claim. After a lost database answer, the id shows whether the
   * recorded claim belongs to this request.
   */
  attemptId,
}

/** A claim of the payment. The attempt has the exclusive right to run the handler until its lease ends. */
const proofClaimed = defineEvent(
  z.object({
    kind: z.literal('ProofClaimed'),
    ...live,
    wallet: address,
    endpoint: z.string(),
    /** SHA-256 in hex of the order: method, endpoint and canonical parameters. */
    orderDigest: z.string(),
    leaseMs: z.int(),
    mint: address,
    /** The price of the answer if the chain can still drop the payment. Otherwise 0. */
    exposedBaseUnits: baseUnits,
  }),
  ({ mint, exposedBaseUnits }) => [
    { debit: accounts.exposed, credit: accounts.exposedContra, mint, amountBaseUnits: exposedBaseUnits },
  ],
)
export type ProofClaimed = EventOf<typeof proofClaimed>

/** The service is about to send the first byte of a streamed answer. */
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

/** Returns the postings that reverse the exposure of a payment. The two accounts are a memorandum and never hold tokens. */
export function unexposed({ mint, exposedBaseUnits }: Unexposed): readonly Posting[] {
  assert(exposedBaseUnits >= 0n, 'no less than nothing is exposed')
  return [{ debit: accounts.exposedContra, credit: accounts.exposed, mint, amountBaseUnits: exposedBaseUnits }]
}

/** A streamed answer ended before it was complete, and the proof can be used again. */
const answerBroken = defineEvent(
  z.object({
    kind: z.literal('AnswerBroken'),
    ...live,
    ...unexposedFields,
    /** Length and SHA-256 in hex of the part that was sent. */
    bytes: z.int().min(0),
    digest: z.string(),
  }),
  unexposed,
)
export type AnswerBroken = EventOf<typeof answerBroken>

/**
 * Units of input and output that a price by use counts. `isEstimated`: the service counted the units, because the
 * upstream did not report them.
 */
export const usage = z.object({ input: z.int().min(0), output: z.int().min(0), isEstimated: z.boolean() })
export type Usage = Readonly<z.output<typeof usage>>

/** An answer was delivered for a payment on the chain. The service has earned the price from this event on. */
export const requestFulfilled = defineEvent(
  z.object({
    kind: z.literal('RequestFulfilled'),
    ...live,
    orderDigest: z.string(),
    /** SHA-256 in hex of the answer's `data` and `meta` as sent. */
    answerDigest: z.string(),
  }),
)
export type RequestFulfilled = EventOf<typeof requestFulfilled>

/** The price is no longer owed to the caller. It is owed to the accounts of the split instead. */
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

/** The attempt ended without a delivery, and the proof can be used again. */
const requestFailed = defineEvent(
  z.object({ kind: z.literal('RequestFailed'), ...live, ...unexposedFields, reason: z.enum(failureReasons) }),
  unexposed,
)
export type RequestFailed = EventOf<typeof requestFailed>

/**
 * The last permitted attempt ended without a delivery. The payment can no longer buy an answer, and is owed back when
 * it is final.
 */
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
