import { z } from 'zod'
import { chainName } from '@tollbook/core/networks'
import { accounts, burnedFor, overpaidBy } from '../../accounting/account.ts'
import { heldForCallerBaseUnits, type Settlement } from '../settlement.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, optionalText, price, reference } from './fields.ts'

const sponsoredOffer = z.object({ rail: z.string(), priceList: z.int().min(1), mint: address.exactOptional() })
export type SponsoredOffer = Readonly<z.output<typeof sponsoredOffer>>

/** Recorded before the transaction is sent, so that any instance can send it again after a crash. */
const paymentSubmitted = defineEvent(
  z.object({
    kind: z.literal('PaymentSubmitted'),
    wallet: address,
    endpoint: z.string(),
    quoteId: optionalText,
    transactionBase64: z.string(),
    /** The payment is settled by this offer, even if the current offer differs. */
    offer: sponsoredOffer.exactOptional(),
  }),
)
export type PaymentSubmitted = EventOf<typeof paymentSubmitted>

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
    kind: z.literal(chainName),
    slot: z.int(),
    blockTimeMs: z.int(),
    transactionBase64: optionalText,
  }),
})

/**
 * The received part of the price is owed to the caller until delivery. Any other received amount is owed back to the
 * wallet.
 */
const paymentVerified = defineEvent(z.object({ kind: z.literal('PaymentVerified'), settlement }), (event) => {
  const { price: paid, wallet, receivedBaseUnits } = event.settlement
  const { mint } = paid
  const heldBaseUnits = heldForCallerBaseUnits(event.settlement)
  const debit = accounts.paymentWallet
  return [
    { debit, credit: accounts.unearned, mint, amountBaseUnits: heldBaseUnits },
    { debit, credit: overpaidBy(wallet), mint, amountBaseUnits: receivedBaseUnits - heldBaseUnits },
  ]
})

/** Recorded with the verification, because the tokens are burned whether or not an answer follows. */
export const tokensBurned = defineEvent(
  z.object({ kind: z.literal('TokensBurned'), mint: address, endpoint: z.string(), burnedBaseUnits: baseUnits }),
  ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: burnedFor(endpoint), credit: accounts.burnedByCallers, mint, amountBaseUnits: burnedBaseUnits },
  ],
)
export type TokensBurned = EventOf<typeof tokensBurned>

/**
 * Recorded with the delivery, because a payment that bought nothing is owed back in full. After a sale in dollars, the
 * mint is the service token, and the treasury delivers the tokens.
 */
const burnOwed = defineEvent(
  z.object({
    kind: z.literal('BurnOwed'),
    mint: address,
    endpoint: z.string(),
    owedBaseUnits: baseUnits,
    source: z.literal('treasury').exactOptional(),
  }),
  ({ mint, owedBaseUnits, source }) => [
    {
      debit: source === undefined ? accounts.unearned : accounts.tokensToDeliver,
      credit: accounts.burnOwed,
      mint,
      amountBaseUnits: owedBaseUnits,
    },
  ],
)

export type BurnOwed = EventOf<typeof burnOwed>

export const verificationEvents = [paymentSubmitted, paymentVerified, tokensBurned, burnOwed] as const
