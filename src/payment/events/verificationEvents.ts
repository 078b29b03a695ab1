import { z } from 'zod'
import { chainName } from '@tollbook/core/networks'
import { accounts, burnedFor, overpaidBy } from '../../accounting/account.ts'
import { heldForCallerBaseUnits, type Settlement } from '../settlement.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, optionalText, price, reference } from './fields.ts'

/*
 * Events of a payment before its first attempt: the service may send the transaction, and the chain proves the payment
 * and its burn.
 */

/**
 * The offer that a sponsored payment accepted. `mint` is present if the price is in another mint than the service
 * token.
 */
const sponsoredOffer = z.object({ rail: z.string(), priceList: z.int().min(1), mint: address.exactOptional() })
export type SponsoredOffer = Readonly<z.output<typeof sponsoredOffer>>

/** A transaction that the service is about to send. Recorded before it is sent. */
const paymentSubmitted = defineEvent(
  z.object({
    kind: z.literal('PaymentSubmitted'),
    wallet: address,
    endpoint: z.string(),
    quoteId: optionalText,
    transactionBase64: z.string(),
    /**
     * Present if the service pays the network fee. The payment is settled by this offer, even if the current offer
     * differs.
     */
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
 * The chain proved the payment. The received amount is an asset. The price is owed to the caller until delivery, and
 * the rest is owed back to the wallet.
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

/** The payer burned tokens inside the payment. Recorded with the verification, whether an answer follows or not. */
export const tokensBurned = defineEvent(
  z.object({ kind: z.literal('TokensBurned'), mint: address, endpoint: z.string(), burnedBaseUnits: baseUnits }),
  ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: burnedFor(endpoint), credit: accounts.burnedByCallers, mint, amountBaseUnits: burnedBaseUnits },
  ],
)
export type TokensBurned = EventOf<typeof tokensBurned>

/**
 * The payer sent the whole price and burned nothing, so the service owes the burn. Recorded with the delivery, because
 * a payment that bought nothing is owed back in full. After a sale in dollars, the mint is the service token, and the
 * treasury delivers the tokens.
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
