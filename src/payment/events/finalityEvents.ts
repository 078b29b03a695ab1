import { z } from 'zod'
import { accounts, burnedFor, overpaidBy, refundDueTo, unmatchedFrom } from '../../accounting/account.ts'
import { unexposed, unexposedFields } from './attemptEvents.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, optionalAddress } from './fields.ts'

/*
 * Events of a payment after its answer. The chain keeps or drops the payment, and money without a delivery is owed
 * back.
 */

/** The chain can no longer drop the block of the payment. */
const paymentFinalized = defineEvent(
  z.object({
    kind: z.literal('PaymentFinalized'),
    /**
     * Slot on the finalized chain. It differs from the slot in the settlement if the chain dropped a fork and the
     * payment landed again.
     */
    slot: z.int(),
    ...unexposedFields,
  }),
  unexposed,
)

const reversalReasons = ['absent', 'failed'] as const

export type ReversalReason = (typeof reversalReasons)[number]

/**
 * The chain dropped the payment with its fork. The amounts are what the ledger takes back from each account. Earned
 * shares stay owed to their owners, so they become a loss of the service.
 */
const paymentReversed = defineEvent(
  z.object({
    kind: z.literal('PaymentReversed'),
    /**
     * `absent`: the finalized chain does not contain the payment and never will. `failed`: the finalized chain contains
     * the transaction, but it failed or paid something else.
     */
    reason: z.enum(reversalReasons),
    finalizedSlot: z.int(),
    wallet: address,
    endpoint: z.string(),
    /** Amount that was still owed to the caller, because nothing was delivered. */
    unearnedBaseUnits: baseUnits,
    /** Amount that had been earned. The answer was delivered, so the service bears the loss. */
    lostBaseUnits: baseUnits,
    overpaidBaseUnits: baseUnits,
    /** Amount of a burn that the service owed and had not confirmed. */
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

/**
 * Cancels the burn of a reversed payment. The event is effective at the time of the burn, so that it corrects the total
 * of that hour.
 */
const burnReversed = defineEvent(
  z.object({ kind: z.literal('BurnReversed'), mint: address, endpoint: z.string(), burnedBaseUnits: baseUnits }),
  ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: accounts.burnedByCallers, credit: burnedFor(endpoint), mint, amountBaseUnits: burnedBaseUnits },
  ],
)

/** Cancels the owed burn of a sale in dollars whose payment was reversed. */
const burnOwedReversed = defineEvent(
  z.object({ kind: z.literal('BurnOwedReversed'), mint: address, endpoint: z.string(), owedBaseUnits: baseUnits }),
  ({ mint, owedBaseUnits }) => [
    { debit: accounts.burnOwed, credit: accounts.tokensToDeliver, mint, amountBaseUnits: owedBaseUnits },
  ],
)

/**
 * Nothing was delivered within a day, or in the permitted attempts. The payment can no longer buy an answer, and the
 * held amount is owed back to the wallet.
 */
const refundDue = defineEvent(
  z.object({ kind: z.literal('RefundDue'), wallet: address, mint: address, refundBaseUnits: baseUnits }),
  ({ wallet, mint, refundBaseUnits }) => [
    { debit: accounts.unearned, credit: refundDueTo(wallet), mint, amountBaseUnits: refundBaseUnits },
  ],
)
export type RefundDue = EventOf<typeof refundDue>

/** Tokens arrived that belong to no payment, and that are too old to be presented as a proof. */
const transferReceived = defineEvent(
  z.object({
    kind: z.literal('TransferReceived'),
    /** Sender of most of the tokens. Undefined if the tokens were minted to the payment wallet. */
    wallet: optionalAddress,
    mint: address,
    receivedBaseUnits: baseUnits,
    slot: z.int(),
  }),
  ({ wallet, mint, receivedBaseUnits }) => [
    { debit: accounts.paymentWallet, credit: unmatchedFrom(wallet), mint, amountBaseUnits: receivedBaseUnits },
  ],
)
export type TransferReceived = EventOf<typeof transferReceived>

/** The wallet of the treasury delivered tokens for the burns of sales in dollars. */
const tokensDelivered = defineEvent(
  z.object({
    kind: z.literal('TokensDelivered'),
    wallet: address,
    mint: address,
    receivedBaseUnits: baseUnits,
    slot: z.int(),
  }),
  ({ mint, receivedBaseUnits }) => [
    {
      debit: accounts.paymentWallet,
      credit: accounts.tokensToDeliver,
      mint,
      amountBaseUnits: receivedBaseUnits,
    },
  ],
)

export const finalityEvents = [
  paymentFinalized,
  paymentReversed,
  burnReversed,
  burnOwedReversed,
  refundDue,
  transferReceived,
  tokensDelivered,
] as const
