import { z } from 'zod'
import { accounts, burnedFor, overpaidBy, refundDueTo, unmatchedFrom } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import type { Address } from '@tollbook/core/address'
import { type Unexposed, unexposed } from './attemptEvents.ts'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits, optionalAddress } from './fields.ts'

/* A payment after its answer: the chain keeps it or drops it, and undelivered money goes back. */

/** The block of the payment can no longer be dropped. */
export interface PaymentFinalized extends Unexposed {
  readonly kind: 'PaymentFinalized'
  /** Slot on the finalized chain; another slot than before, if a fork was dropped and it landed again. */
  readonly slot: number
}

const paymentFinalized = defineEvent<PaymentFinalized>({
  kind: 'PaymentFinalized',
  schema: z.object({
    kind: z.literal('PaymentFinalized'),
    slot: z.int(),
    mint: address,
    exposedBaseUnits: baseUnits,
  }),
  postings: unexposed,
})

const reversalReasons = ['absent', 'failed'] as const

export type ReversalReason = (typeof reversalReasons)[number]

/** The chain dropped the payment with its fork. Names what the ledger takes back, account by account. */
export interface PaymentReversed extends Unexposed {
  readonly kind: 'PaymentReversed'
  /** `absent`: it is not on the finalized chain and never will be. `failed`: it is there, and failed or paid something else. */
  readonly reason: ReversalReason
  /** Slot of the finalized chain when the payment was looked for. */
  readonly finalizedSlot: number
  readonly wallet: Address
  readonly endpoint: string
  /** Was still owed to the caller: nothing was delivered. */
  readonly unearnedBaseUnits: bigint
  /** Had been earned: the answer was given away, and the loss is ours. */
  readonly lostBaseUnits: bigint
  readonly overpaidBaseUnits: bigint
  /** A burn that we owed and had not confirmed. */
  readonly burnOwedBaseUnits: bigint
}

const paymentReversed = defineEvent<PaymentReversed>({
  kind: 'PaymentReversed',
  schema: z.object({
    kind: z.literal('PaymentReversed'),
    reason: z.enum(reversalReasons),
    finalizedSlot: z.int(),
    wallet: address,
    mint: address,
    endpoint: z.string(),
    unearnedBaseUnits: baseUnits,
    lostBaseUnits: baseUnits,
    overpaidBaseUnits: baseUnits,
    burnOwedBaseUnits: baseUnits,
    exposedBaseUnits: baseUnits,
  }),
  postings: reversed,
})

/** Takes back what arrived. Shares that were earned stay owed to those who earned them, so they become our loss. */
function reversed(event: PaymentReversed): readonly Posting[] {
  const { mint, wallet, unearnedBaseUnits, lostBaseUnits, overpaidBaseUnits, burnOwedBaseUnits } = event
  const credit = accounts.paymentWallet
  return [
    { debit: accounts.unearned, credit, mint, amountBaseUnits: unearnedBaseUnits },
    { debit: accounts.reversedPayments, credit, mint, amountBaseUnits: lostBaseUnits },
    { debit: overpaidBy(wallet), credit, mint, amountBaseUnits: overpaidBaseUnits },
    { debit: accounts.burnOwed, credit, mint, amountBaseUnits: burnOwedBaseUnits },
    ...unexposed(event),
  ]
}

/** The burn of a reversed payment never happened. Effective at the burn's own time, so its hour is corrected. */
export interface BurnReversed {
  readonly kind: 'BurnReversed'
  readonly mint: Address
  readonly endpoint: string
  readonly burnedBaseUnits: bigint
}

const burnReversed = defineEvent<BurnReversed>({
  kind: 'BurnReversed',
  schema: z.object({
    kind: z.literal('BurnReversed'),
    mint: address,
    endpoint: z.string(),
    burnedBaseUnits: baseUnits,
  }),
  postings: ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: accounts.burnedByCallers, credit: burnedFor(endpoint), mint, amountBaseUnits: burnedBaseUnits },
  ],
})

/**
 * Nothing was delivered for a day, or in the permitted attempts: the payment no longer buys, and the held amount is owed back
 * to the wallet.
 */
export interface RefundDue {
  readonly kind: 'RefundDue'
  readonly wallet: Address
  readonly mint: Address
  readonly refundBaseUnits: bigint
}

const refundDue = defineEvent<RefundDue>({
  kind: 'RefundDue',
  schema: z.object({ kind: z.literal('RefundDue'), wallet: address, mint: address, refundBaseUnits: baseUnits }),
  postings: ({ wallet, mint, refundBaseUnits }) => [
    { debit: accounts.unearned, credit: refundDueTo(wallet), mint, amountBaseUnits: refundBaseUnits },
  ],
})

/** Tokens arrived that no payment explains, and it is too late to present them as a proof. */
export interface TransferReceived {
  readonly kind: 'TransferReceived'
  /** Sender of most of it. Undefined when the tokens were minted to us. */
  readonly wallet: Address | undefined
  readonly mint: Address
  readonly receivedBaseUnits: bigint
  readonly slot: number
}

const transferReceived = defineEvent<TransferReceived>({
  kind: 'TransferReceived',
  schema: z.object({
    kind: z.literal('TransferReceived'),
    wallet: optionalAddress,
    mint: address,
    receivedBaseUnits: baseUnits,
    slot: z.int(),
  }),
  postings: ({ wallet, mint, receivedBaseUnits }) => [
    { debit: accounts.paymentWallet, credit: unmatchedFrom(wallet), mint, amountBaseUnits: receivedBaseUnits },
  ],
})

export const finalityEvents = [paymentFinalized, paymentReversed, burnReversed, refundDue, transferReceived] as const
