import { z } from 'zod'
import { accounts, prepaidOn, refundDueTo, shareOf } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { usage } from './attemptEvents.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import {
  address,
  attempt,
  attemptId,
  baseUnits,
  bigInteger,
  optionalAddress,
  optionalText,
  price,
  reference,
  shares,
} from './fields.ts'

const tab = z.string()
const ofTab = { tab, mint: address }
const optionalBaseUnits = z
  .string()
  .nullable()
  .transform((text) => (text === null ? undefined : BigInt(text)))

const terms = z.object({
  sessionKey: optionalAddress,
  bearerHash: optionalText,
  maxPerRequestBaseUnits: baseUnits,
  maxPerDayBaseUnits: optionalBaseUnits,
  endsAtMs: z.int(),
})

interface OfTab {
  readonly tab: string
  readonly mint: string
}

/**
 * Returns the posting of a deposit. Nothing is earned or burned until a request spends the deposit, because a burn
 * cannot be returned.
 */
function deposited({ tab: id, mint, depositBaseUnits }: OfTab & { readonly depositBaseUnits: bigint }) {
  return [{ debit: accounts.unearned, credit: prepaidOn(id), mint, amountBaseUnits: depositBaseUnits }]
}

const tabOpened = defineEvent(
  z.object({ kind: z.literal('TabOpened'), ...ofTab, wallet: address, depositBaseUnits: baseUnits, terms }),
  deposited,
)

const tabToppedUp = defineEvent(
  z.object({ kind: z.literal('TabToppedUp'), ...ofTab, wallet: address, depositBaseUnits: baseUnits }),
  deposited,
)

/** The balance that is taken back lowers the loss. */
const depositReversed = defineEvent(
  z.object({
    kind: z.literal('DepositReversed'),
    ...ofTab,
    takenBackBaseUnits: baseUnits,
    spentBaseUnits: baseUnits,
  }),
  takenBack,
)

/**
 * Holds the price, or the maximum of a price by use, before the handler runs. Until the lease ends, no other attempt
 * may run the handler.
 */
const tabDebited = defineEvent(
  z.object({
    kind: z.literal('TabDebited'),
    tab,
    number: bigInteger,
    /** The deposit that opened the tab. Repeated, so that the event is complete without another stream. */
    deposit: reference,
    slot: z.int(),
    blockTimeMs: z.int(),
    wallet: address,
    price,
    priceList: z.int().min(1),
    attempt,
    attemptId,
    leaseMs: z.int(),
    orderDigest: z.string(),
    /** Hash of the presented bearer key. Null for a signed debit. A debit by the bearer key cannot be proven later. */
    bearerHash: optionalText,
    /**
     * Signature by the session key, with the signed facts that no other member contains. It also covers tab, number,
     * mint and origin. Null for a debit by the bearer key.
     */
    signed: z
      .object({
        sessionKey: address,
        maxBaseUnits: baseUnits,
        validUntilMs: z.int(),
        /** SHA-256 in hex of the request as sent, so that the payer need not normalise its parameters. */
        requestDigest: z.string(),
        signature: z.string(),
      })
      .nullable()
      .transform((signed) => signed ?? undefined),
    /** The append fails at another version, so that no instance debits a closed tab, or by a replaced key. */
    lifecycle: z.int().min(0),
  }),
  ({ tab: id, price: { mint, requiredBaseUnits } }) => [
    { debit: prepaidOn(id), credit: accounts.unearned, mint, amountBaseUnits: requiredBaseUnits },
  ],
)
export type TabDebited = EventOf<typeof tabDebited>

/**
 * Delivery and charge are one event, because each further event makes a request more expensive. Attempt id and order
 * are those of the debit.
 */
const tabCaptured = defineEvent(
  z.object({
    kind: z.literal('TabCaptured'),
    attempt,
    answerDigest: z.string(),
    mint: address,
    /** Burn that the service owes from the charge. 0 in dollars, whose burn in the service token is a `BurnOwed` event. */
    burnBaseUnits: baseUnits,
    shares,
    usage: usage.exactOptional(),
    /** Unused part of the hold. Absent if all of it was charged. */
    returned: z.object({ tab, baseUnits }).exactOptional(),
  }),
  ({ mint, burnBaseUnits, shares: parts, returned }) => {
    const from = { debit: accounts.unearned, mint }
    return [
      { ...from, credit: accounts.burnOwed, amountBaseUnits: burnBaseUnits },
      ...parts.map((part): Posting => ({
        ...from,
        credit: shareOf(part.account),
        amountBaseUnits: part.baseUnits,
      })),
      ...(returned === undefined
        ? []
        : [{ ...from, credit: prepaidOn(returned.tab), amountBaseUnits: returned.baseUnits }]),
    ]
  },
)
export type TabCaptured = EventOf<typeof tabCaptured>

/** The tab gets a hold back, because nothing was delivered. */
const tabReturned = defineEvent(
  z.object({ kind: z.literal('TabReturned'), ...ofTab, baseUnits }),
  ({ tab: id, mint, baseUnits: amountBaseUnits }) => [
    { debit: accounts.unearned, credit: prepaidOn(id), mint, amountBaseUnits },
  ],
)
export type TabReturned = EventOf<typeof tabReturned>

/** Every instance refuses debits with the earlier keys from this event on. */
const tabKeyReplaced = defineEvent(
  z.object({ kind: z.literal('TabKeyReplaced'), tab, sessionKey: optionalAddress, bearerHash: optionalText }),
)

const closers = ['wallet', 'session_key', 'end', 'reversal'] as const
export type TabCloser = (typeof closers)[number]

interface RestOwed extends OfTab {
  readonly wallet: z.output<typeof address>
  readonly restBaseUnits: bigint
}

function restOwed({ tab: id, wallet, mint, restBaseUnits }: RestOwed) {
  return [{ debit: prepaidOn(id), credit: refundDueTo(wallet), mint, amountBaseUnits: restBaseUnits }]
}

const tabClosed = defineEvent(
  z.object({
    kind: z.literal('TabClosed'),
    ...ofTab,
    wallet: address,
    /** Key that closed the tab. `end`: the time of the tab was over. `reversal`: the chain dropped a deposit. */
    by: z.enum(closers),
    restBaseUnits: baseUnits,
  }),
  restOwed,
)

const tabRestOwed = defineEvent(
  z.object({ kind: z.literal('TabRestOwed'), ...ofTab, wallet: address, restBaseUnits: baseUnits }),
  restOwed,
)

/** Balance of a closed tab that covers the loss of a dropped deposit. */
const tabTakenBack = defineEvent(
  z.object({ kind: z.literal('TabTakenBack'), ...ofTab, takenBackBaseUnits: baseUnits }),
  takenBack,
)

function takenBack({
  tab: id,
  mint,
  takenBackBaseUnits: amountBaseUnits,
}: OfTab & { readonly takenBackBaseUnits: bigint }) {
  return [{ debit: prepaidOn(id), credit: accounts.reversedPayments, mint, amountBaseUnits }]
}

export const tabPaymentEvents = [tabOpened, tabToppedUp, depositReversed, tabDebited, tabCaptured, tabReturned] as const
export const tabLifecycleEvents = [tabKeyReplaced, tabClosed, tabRestOwed, tabTakenBack] as const
