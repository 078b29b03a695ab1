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

/*
 * Events of tabs: the deposit, the debits that spend it, and the end of the tab.
 */

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

interface Deposited {
  readonly tab: string
  readonly mint: string
  readonly depositBaseUnits: bigint
}

/** Returns the posting of a deposit: all of it is prepaid. Nothing is earned or burned until a request spends it. */
function deposited({ tab: id, mint, depositBaseUnits }: Deposited) {
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

/**
 * The chain dropped a deposit. The ledger takes the balance of the tab back, which lowers the loss. The spent part of
 * the deposit has already paid for answers.
 */
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
 * A request holds its highest price on the tab. The request has the exclusive right to run the handler until its lease
 * ends.
 */
const tabDebited = defineEvent(
  z.object({
    kind: z.literal('TabDebited'),
    tab,
    number: bigInteger,
    /** The deposit that opened the tab, with its slot and block time on the chain. */
    deposit: reference,
    slot: z.int(),
    blockTimeMs: z.int(),
    wallet: address,
    price,
    priceList: z.int().min(1),
    attempt,
    attemptId,
    leaseMs: z.int(),
    /** SHA-256 in hex of the order: method, endpoint and canonical parameters. */
    orderDigest: z.string(),
    /** Hash of the presented bearer key. Null for a signed debit. A debit by the bearer key cannot be proven later. */
    bearerHash: optionalText,
    /** Facts that the session key signed in addition to tab and number. Null for a debit by the bearer key. */
    signed: z
      .object({
        sessionKey: address,
        maxBaseUnits: baseUnits,
        validUntilMs: z.int(),
        /** SHA-256 in hex of the request as sent. */
        requestDigest: z.string(),
        signature: z.string(),
      })
      .nullable()
      .transform((signed) => signed ?? undefined),
    /** Version of the tab's lifecycle on which the debit was decided. */
    lifecycle: z.int().min(0),
  }),
  ({ tab: id, price: { mint, requiredBaseUnits } }) => [
    { debit: prepaidOn(id), credit: accounts.unearned, mint, amountBaseUnits: requiredBaseUnits },
  ],
)
export type TabDebited = EventOf<typeof tabDebited>

/**
 * An answer was delivered, and its tab has paid the charge. All facts are in one event, because each further event
 * would make the request more expensive. The attempt id and the order are those of the debit. For a price in dollars
 * with a burn in the token, a `BurnOwed` event follows.
 */
const tabCaptured = defineEvent(
  z.object({
    kind: z.literal('TabCaptured'),
    attempt,
    /** SHA-256 in hex of the answer's `data` and `meta` as sent. */
    answerDigest: z.string(),
    mint: address,
    /** Burn that the service owes from the charge. */
    burnBaseUnits: baseUnits,
    shares,
    /** Units that were charged. Present if the price is by use. */
    usage: usage.exactOptional(),
    /** Unused part of the hold, which the tab gets back. Present if less was charged than was held. */
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

/** The wallet replaced the keys of the tab. Every instance refuses debits with the earlier keys from this event on. */
const tabKeyReplaced = defineEvent(
  z.object({ kind: z.literal('TabKeyReplaced'), tab, sessionKey: optionalAddress, bearerHash: optionalText }),
)

const closers = ['wallet', 'session_key', 'end', 'reversal'] as const
export type TabCloser = (typeof closers)[number]

interface RestOwed {
  readonly tab: string
  readonly wallet: z.output<typeof address>
  readonly mint: string
  readonly restBaseUnits: bigint
}

function restOwed({ tab: id, wallet, mint, restBaseUnits }: RestOwed) {
  return [{ debit: prepaidOn(id), credit: refundDueTo(wallet), mint, amountBaseUnits: restBaseUnits }]
}

/** The tab accepts no more debits, and its unspent balance is owed to the wallet that paid. */
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

/** An amount that was returned to a closed tab is owed to the wallet of the tab. */
const tabRestOwed = defineEvent(
  z.object({ kind: z.literal('TabRestOwed'), ...ofTab, wallet: address, restBaseUnits: baseUnits }),
  restOwed,
)

/**
 * An amount was returned to a closed tab after the chain had dropped a deposit. The amount was held at the time of the
 * reversal, and lowers the loss.
 */
const tabTakenBack = defineEvent(
  z.object({ kind: z.literal('TabTakenBack'), ...ofTab, takenBackBaseUnits: baseUnits }),
  takenBack,
)

interface TakenBack {
  readonly tab: string
  readonly mint: string
  readonly takenBackBaseUnits: bigint
}

function takenBack({ tab: id, mint, takenBackBaseUnits: amountBaseUnits }: TakenBack) {
  return [{ debit: prepaidOn(id), credit: accounts.reversedPayments, mint, amountBaseUnits }]
}

export const tabPaymentEvents = [tabOpened, tabToppedUp, depositReversed, tabDebited, tabCaptured, tabReturned] as const
export const tabLifecycleEvents = [tabKeyReplaced, tabClosed, tabRestOwed, tabTakenBack] as const
