import { z } from 'zod'
import { accounts, burnedFor, overpaidBy, refundDueTo, unmatchedFrom } from '../../accounting/account.ts'
import { unexposed, unexposedFields } from './attemptEvents.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, optionalAddress } from './fields.ts'

/* A payment after its answer: the chain keeps it or drops it, and undelivered money goes back. */

/** The block of the payment can no longer be dropped. */
const paymentFinalized = defineEvent(
  z.object({
    kind: z.literal('PaymentFinalized'),
    /** Slot on the finalized chain; another slot than before, if a fork was dropped and it landed again. */
    slot: z.int(),
    ...unexposedFields,
  }),
  unexposed,
)

const reversalReasons = ['absent', 'failed'] as const

export type ReversalReason = (typeof reversalReasons)[number]

/**
 * The chain dropped the payment with its fork. Names what the ledger takes back, account by account. Shares that were
 * earned stay owed to those who earned them, so they become our loss.
 */
const paymentReversed = defineEvent(
  z.object({
    kind: z.literal('PaymentReversed'),
    /** `absent`: it is not on the finalized chain and never will be. `failed`: it is there, and failed or paid something else. */
    reason: z.enum(reversalReasons),
    /** Slot of the finalized chain when the payment was looked for. */
    finalizedSlot: z.int(),
    wallet: address,
    endpoint: z.string(),
    /** Was still owed to the caller: nothing was delivered. */
    unearnedBaseUnits: baseUnits,
    /** Had been earned: the answer was given away, and the loss is ours. */
    lostBaseUnits: baseUnits,
    overpaidBaseUnits: baseUnits,
    /** A burn that we owed and had not confirmed. */
    burnOwedBaseUnits: baseUnits,
    ...unexposedFields,
  }),
  (event) => {
    const { mint, wallet, unearnedBaseUnits, lostBaseUnits, overpaidBaseUnits, burnOwedBaseUnits } = event
    const credit = accounts.paymentWallet
    return [
      { debit: accounts.unearned, credit, mint, amountBaseUnits: unearnedBaseUnits },
      { debit: accounts.reversedPayments, credit, mint, amountBaseUnits: lostBaseUnits },
      { debit: overpaidBy(wallet), credit, mint, amountBaseUnits: overpaidBaseUnits },
      { debit: accounts.burnOwed, credit, mint, amountBaseUnits: burnOwedBaseUnits },
      ...unexposed(event),
    ]
  },
)
export type PaymentReversed = EventOf<typeof paymentReversed>

/** The burn of a reversed payment never happened. Effective at the burn's own time, so its hour is corrected. */
const burnReversed = defineEvent(
  z.object({ kind: z.literal('BurnReversed'), mint: address, endpoint: z.string(), burnedBaseUnits: baseUnits }),
  ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: accounts.burnedByCallers, credit: burnedFor(endpoint), mint, amountBaseUnits: burnedBaseUnits },
  ],
)

/**
 * Nothing was delivered for a day, or in the permitted attempts: the payment no longer buys, and the held amount is owed back
 * to the wallet.
 */
const refundDue = defineEvent(
  z.object({ kind: z.literal('RefundDue'), wallet: address, mint: address, refundBaseUnits: baseUnits }),
  ({ wallet, mint, refundBaseUnits }) => [
    { debit: accounts.unearned, credit: refundDueTo(wallet), mint, amountBaseUnits: refundBaseUnits },
  ],
)
export type RefundDue = EventOf<typeof refundDue>

/** Tokens arrived that no payment explains, and it is too late to present them as a proof. */
const transferReceived = defineEvent(
  z.object({
    kind: z.literal('TransferReceived'),
    /** Sender of most of it. Undefined when the tokens were minted to us. */
    wallet: optionalAddress,
    mint: address,
    receivedBaseUnits: baseUnits,
    slot: z.int(),
  }),
  ({ wallet, mint, receivedBaseUnits }) => [
    { debit: accounts.paymentWallet, credit: unmatchedFrom(wallet), mint, amountBaseUnits: receivedBaseUnits },
  ],
)

export const finalityEvents = [paymentFinalized, paymentReversed, burnReversed, refundDue, transferReceived] as const
