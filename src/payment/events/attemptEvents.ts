import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { accounts, shareOf } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import type { Address } from '@tollbook/core/address'
import type { Share } from '@tollbook/core/quote'
import { defineEvent } from './eventDefinition.ts'
import { address, attempt, attemptId, baseUnits, shares } from './fields.ts'

/* One attempt to serve an order for a payment, from its claim to its end. */

/** An attempt has the exclusive right to run the handler until its lease ends. */
export interface ProofClaimed {
  readonly kind: 'ProofClaimed'
  readonly attempt: number
  /** Names the one process and request that made the claim; it tells a lost answer from a lost race. */
  readonly attemptId: string
  readonly wallet: Address
  readonly endpoint: string
  /** SHA-256 in hex of the order: method, endpoint and canonical parameters. */
  readonly orderDigest: string
  readonly leaseMs: number
  readonly mint: Address
  /** The price while the chain could still drop the payment, else 0. */
  readonly exposedBaseUnits: bigint
}

const proofClaimed = defineEvent<ProofClaimed>({
  kind: 'ProofClaimed',
  schema: z.object({
    kind: z.literal('ProofClaimed'),
    attempt,
    attemptId,
    wallet: address,
    endpoint: z.string(),
    orderDigest: z.string(),
    leaseMs: z.int(),
    mint: address,
    exposedBaseUnits: baseUnits,
  }),
  postings: ({ mint, exposedBaseUnits }) => [
    { debit: accounts.exposed, credit: accounts.exposedContra, mint, amountBaseUnits: exposedBaseUnits },
  ],
})

/** The first byte of a streamed answer is about to be sent. */
export interface AnswerStarted {
  readonly kind: 'AnswerStarted'
  readonly attempt: number
  readonly attemptId: string
}

const answerStarted = defineEvent<AnswerStarted>({
  kind: 'AnswerStarted',
  schema: z.object({ kind: z.literal('AnswerStarted'), attempt, attemptId }),
})

/** A streamed answer ended before it was whole, and the proof is free again. */
export interface AnswerBroken extends Unexposed {
  readonly kind: 'AnswerBroken'
  readonly attempt: number
  readonly attemptId: string
  /** Length and SHA-256 in hex of the part that was sent. */
  readonly bytes: number
  readonly digest: string
}

/** Events after which less is exposed to a fork than before. */
export interface Unexposed {
  readonly mint: Address
  /** Amount that is no longer exposed. */
  readonly exposedBaseUnits: bigint
}

/** Reverses the exposure of a payment. The pair of accounts is a memorandum: it never holds tokens. */
export function unexposed({ mint, exposedBaseUnits }: Unexposed): readonly Posting[] {
  assert(exposedBaseUnits >= 0n, 'no less than nothing is exposed')
  return [{ debit: accounts.exposedContra, credit: accounts.exposed, mint, amountBaseUnits: exposedBaseUnits }]
}

const answerBroken = defineEvent<AnswerBroken>({
  kind: 'AnswerBroken',
  schema: z.object({
    kind: z.literal('AnswerBroken'),
    attempt,
    attemptId,
    bytes: z.int().min(0),
    digest: z.string(),
    mint: address,
    exposedBaseUnits: baseUnits,
  }),
  postings: unexposed,
})

/** An answer was delivered. From here on the payment has earned its price. */
export interface RequestFulfilled {
  readonly kind: 'RequestFulfilled'
  readonly attempt: number
  readonly attemptId: string
  readonly orderDigest: string
  /** SHA-256 in hex of the answer's `data` and `meta` as they were sent. */
  readonly answerDigest: string
}

export const requestFulfilled = defineEvent<RequestFulfilled>({
  kind: 'RequestFulfilled',
  schema: z.object({
    kind: z.literal('RequestFulfilled'),
    attempt,
    attemptId,
    orderDigest: z.string(),
    answerDigest: z.string(),
  }),
})

/** The price is no longer owed to the caller but to those among whom it is split. */
export interface DistributionAllocated {
  readonly kind: 'DistributionAllocated'
  readonly mint: Address
  readonly parts: readonly Share[]
}

export const distributionAllocated = defineEvent<DistributionAllocated>({
  kind: 'DistributionAllocated',
  schema: z.object({ kind: z.literal('DistributionAllocated'), mint: address, parts: shares }),
  postings: ({ mint, parts }) =>
    parts.map((part): Posting => ({
      debit: accounts.unearned,
      credit: shareOf(part.account),
      mint,
      amountBaseUnits: part.baseUnits,
    })),
})

const failureReasons = [
  'no_data',
  'upstream_failed',
  'upstream_timeout',
  'target_forbidden',
  'internal_error',
  'lease_expired',
] as const

export type FailureReason = (typeof failureReasons)[number]

/** The attempt ended undelivered and the proof is free again. */
export interface RequestFailed extends Unexposed {
  readonly kind: 'RequestFailed'
  readonly attempt: number
  readonly attemptId: string
  readonly reason: FailureReason
}

const requestFailed = defineEvent<RequestFailed>({
  kind: 'RequestFailed',
  schema: z.object({
    kind: z.literal('RequestFailed'),
    attempt,
    attemptId,
    reason: z.enum(failureReasons),
    mint: address,
    exposedBaseUnits: baseUnits,
  }),
  postings: unexposed,
})

/** The last permitted attempt ended undelivered: the payment no longer buys and is owed back as soon as it is final. */
export interface AttemptsExhausted {
  readonly kind: 'AttemptsExhausted'
  readonly attempts: number
}

const attemptsExhausted = defineEvent<AttemptsExhausted>({
  kind: 'AttemptsExhausted',
  schema: z.object({ kind: z.literal('AttemptsExhausted'), attempts: attempt }),
})

export const attemptEvents = [
  proofClaimed,
  answerStarted,
  answerBroken,
  requestFulfilled,
  distributionAllocated,
  requestFailed,
  attemptsExhausted,
] as const
