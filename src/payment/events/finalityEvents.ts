import { z } from 'zod'
import { accounts, burnedFor, overpaidBy, refundDueTo, unmatchedFrom } from '../../accounting/account.ts'
import { unexposed, unexposedFields } from './attemptEvents.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, optionalAddress } from './fields.ts'

const paymentFinalized = defineEvent(
  z.object({
    kind: z.literal('PaymentFinalized'),
    /** Differs from the slot in the settlement if the chain dropped a fork and the payment landed again. */
    slot: z.int(),
    ...unexposedFields,
  }),
  unexposed,
)

const reversalReasons = ['absent', 'failed'] as const

export type ReversalReason = (typeof reversalReasons)[number]

/** The amounts are what the ledger takes back. Earned shares stay owed to their owners, as a loss of the service. */
const paymentReversed = defineEvent(
  z.object({
    kind: z.literal('PaymentReversed'),
    /** `absent`: the transaction is not on the finalized chain. `failed`: it landed, but failed or paid something else. */
    reason: z.enum(reversalReasons),
    finalizedSlot: z.int(),
    wallet: address,
    endpoint: z.string(),
    /** Amount that was still owed to the caller, because nothing was delivered. */
    unearnedBaseUnits: baseUnits,
    /** Amount that had been earned. The answer was delivered, so the service bears the loss. */
    lostBaseUnits: baseUnits,
    overpaidBaseUnits: baseUnits,
    /** Burn that the service owed, in the mint of the payment. */
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

/** Effective at the time of the burn, so that it corrects the total of that hour. */
const burnReversed = defineEvent(
  z.object({ kind: z.literal('BurnReversed'), mint: address, endpoint: z.string(), burnedBaseUnits: baseUnits }),
  ({ mint, endpoint, burnedBaseUnits }) => [
    { debit: accounts.burnedByCallers, credit: burnedFor(endpoint), mint, amountBaseUnits: burnedBaseUnits },
  ],
)

/** A separate event, because the burn of a sale in dollars is in another mint than the payment. */
const burnOwedReversed = defineEvent(
  z.object({ kind: z.literal('BurnOwedReversed'), mint: address, endpoint: z.string(), owedBaseUnits: baseUnits }),
  ({ mint, owedBaseUnits }) => [
    { debit: accounts.burnOwed, credit: accounts.tokensToDeliver, mint, amountBaseUnits: owedBaseUnits },
  ],
)

/** Nothing was delivered within a day, or in the permitted attempts. The payment can no longer buy an answer. */
const refundDue = defineEvent(
  z.object({ kind: z.literal('RefundDue'), wallet: address, mint: address, refundBaseUnits: baseUnits }),
  ({ wallet, mint, refundBaseUnits }) => [
    { debit: accounts.unearned, credit: refundDueTo(wallet), mint, amountBaseUnits: refundBaseUnits },
  ],
)
export type RefundDue = EventOf<typeof refundDue>

const transferReceived = defineEvent(
  z.object({
    kind: z.literal('TransferReceived'),
    /** Sender of most of the tokens. Undefined without a transfer, for example if the tokens were minted. */
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

/** No round burns tokens for a sale in dollars before the treasury has delivered them. */
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
