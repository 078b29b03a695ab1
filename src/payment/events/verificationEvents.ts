import { z } from 'zod'
import { accounts, burnedFor, overpaidBy } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import type { Address } from '@tollbook/core/address'
import { heldForCallerBaseUnits, type Settlement } from '../settlement.ts'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits, optionalText, price, reference } from './fields.ts'

/* A payment before its first attempt, sent by us, then proven by the chain; and its burn. */

/** We put on record that we were about to send this transaction, before we sent it. */
export interface PaymentSubmitted {
  readonly kind: 'PaymentSubmitted'
  readonly wallet: Address
  readonly endpoint: string
  readonly quoteId: string | undefined
  readonly transactionBase64: string
  /** Present when the service pays the network fee. The payment is settled by this offer, whatever is offered by then. */
  readonly offer?: SponsoredOffer
}

/** The offer that a sponsored payment pays. */
export interface SponsoredOffer {
  /** Name of the rail. */
  readonly rail: string
  /** Number of the price list. */
  readonly priceList: number
}

const paymentSubmitted = defineEvent<PaymentSubmitted>({
  kind: 'PaymentSubmitted',
  schema: z.object({
    kind: z.literal('PaymentSubmitted'),
    wallet: address,
    endpoint: z.string(),
    quoteId: optionalText,
    transactionBase64: z.string(),
    offer: z.object({ rail: z.string(), priceList: z.int().min(1) }).exactOptional(),
  }),
})

/** The chain proved the payment. Money before fulfilment is owed to the caller. */
export interface PaymentVerified {
  readonly kind: 'PaymentVerified'
  readonly settlement: Settlement
}

const settlement: z.ZodType<Settlement> = z.object({
  reference,
  wallet: address,
  price,
  priceList: z.int().min(1).exactOptional(),
  quoteId: optionalText,
  memo: optionalText,
  burnedBaseUnits: baseUnits,
  receivedBaseUnits: baseUnits,
  evidence: z.object({
    kind: z.literal('solana'),
    slot: z.int(),
    blockTimeMs: z.int(),
    transactionBase64: optionalText,
  }),
})

const paymentVerified = defineEvent<PaymentVerified>({
  kind: 'PaymentVerified',
  schema: z.object({ kind: z.literal('PaymentVerified'), settlement }),
  postings: (event) => received(event.settlement),
})

/**
 * The received amount is an asset; the price is owed to the caller until delivery, the rest is owed back to the wallet.
 */
function received(paid: Settlement): readonly Posting[] {
  const { mint } = paid.price
  const held = heldForCallerBaseUnits(paid)
  const debit = accounts.paymentWallet
  return [
    { debit, credit: accounts.unearned, mint, amountBaseUnits: held },
    { debit, credit: overpaidBy(paid.wallet), mint, amountBaseUnits: paid.receivedBaseUnits - held },
  ]
}

/** The payer burned inside the payment. Recorded with the verification, whether an answer follows or not. */
export interface TokensBurned {
  readonly kind: 'TokensBurned'
  readonly mint: Address
  readonly endpoint: string
  readonly burnedBaseUnits: bigint
}

export const tokensBurned = defineEvent<TokensBurned>({
  kind: 'TokensBurned',
  schema: z.object({
    kind: z.literal('TokensBurned'),
    mint: address,
    endpoint: z.string(),
    burnedBaseUnits: baseUnits,
  }),
  postings: ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: burnedFor(endpoint), credit: accounts.burnedByCallers, mint, amountBaseUnits: burnedBaseUnits },
  ],
})

/**
 * The payer sent the whole price and burned nothing: we owe the burn. Recorded with the delivery, so that a payment that bought
 * nothing is owed back whole.
 */
export interface BurnOwed {
  readonly kind: 'BurnOwed'
  readonly mint: Address
  readonly endpoint: string
  readonly owedBaseUnits: bigint
}

const burnOwed = defineEvent<BurnOwed>({
  kind: 'BurnOwed',
  schema: z.object({ kind: z.literal('BurnOwed'), mint: address, endpoint: z.string(), owedBaseUnits: baseUnits }),
  postings: ({ mint, owedBaseUnits }) => [
    { debit: accounts.unearned, credit: accounts.burnOwed, mint, amountBaseUnits: owedBaseUnits },
  ],
})

export const verificationEvents = [paymentSubmitted, paymentVerified, tokensBurned, burnOwed] as const
