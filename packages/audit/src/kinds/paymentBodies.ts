import { z } from 'zod'
import { baseUnits, share } from '../body.ts'
import { settlement } from '../settlement.ts'
import { bodyOf } from './auditedKind.ts'

/* Schemas of the bodies of payment events, written from docs/ledger.md and not from the recording code. */

const text = z.string()
const attempt = { attempt: z.int(), attemptId: text }
/** Amount that becomes exposed to a fork of the chain with this event, or that stops being exposed. */
const exposure = { mint: text, exposedBaseUnits: baseUnits }
const burn = { mint: text, endpoint: text, burnedBaseUnits: baseUnits }

export const submitted = bodyOf('PaymentSubmitted', {
  wallet: text,
  endpoint: text,
  quoteId: text.nullable(),
  // Absent for payments on the native rail and in events of the first releases.
  offer: z.strictObject({ mint: text.optional(), priceList: z.int(), rail: text }).optional(),
  transactionBase64: text,
})
export const verified = bodyOf('PaymentVerified', { settlement })
export const tokensBurned = bodyOf('TokensBurned', burn)
export const burnOwed = bodyOf('BurnOwed', {
  mint: text,
  endpoint: text,
  owedBaseUnits: baseUnits,
  // Present after a sale in dollars, because the treasury delivers the tokens for its burn.
  source: z.literal('treasury').optional(),
})
export const burnOwedReversed = bodyOf('BurnOwedReversed', { mint: text, endpoint: text, owedBaseUnits: baseUnits })
export const claimed = bodyOf('ProofClaimed', {
  ...attempt,
  ...exposure,
  wallet: text,
  endpoint: text,
  orderDigest: text,
  leaseMs: z.int(),
})
export const started = bodyOf('AnswerStarted', attempt)
export const broken = bodyOf('AnswerBroken', { ...attempt, ...exposure, bytes: z.int(), digest: text })
export const fulfilled = bodyOf('RequestFulfilled', {
  ...attempt,
  orderDigest: text,
  answerDigest: text,
})
export const allocated = bodyOf('DistributionAllocated', { mint: text, parts: z.array(share) })
export const failed = bodyOf('RequestFailed', {
  ...attempt,
  ...exposure,
  reason: text,
})
export const exhausted = bodyOf('AttemptsExhausted', { attempts: z.int() })
export const finalized = bodyOf('PaymentFinalized', { ...exposure, slot: z.int() })
export const reversed = bodyOf('PaymentReversed', {
  ...exposure,
  wallet: text,
  endpoint: text,
  finalizedSlot: z.int(),
  reason: z.enum(['absent', 'failed']),
  unearnedBaseUnits: baseUnits,
  lostBaseUnits: baseUnits,
  overpaidBaseUnits: baseUnits,
  burnOwedBaseUnits: baseUnits,
})
export const burnReversed = bodyOf('BurnReversed', burn)
export const refundDue = bodyOf('RefundDue', { wallet: text, mint: text, refundBaseUnits: baseUnits })
const arrived = { mint: text, receivedBaseUnits: baseUnits, slot: z.int() }
// The wallet is null if the tokens were minted to the payment wallet.
export const received = bodyOf('TransferReceived', { ...arrived, wallet: text.nullable() })
export const delivered = bodyOf('TokensDelivered', { ...arrived, wallet: text })

export type Body<S extends z.ZodType> = z.output<S>
