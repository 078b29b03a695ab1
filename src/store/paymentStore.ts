import type { QueryResultRow } from 'pg'
import { assert, assertPresent } from '@tollbook/core/assert'
import { describeError } from '@tollbook/core/fault'
import { type Refusal, refuseProof } from '@tollbook/core/refusal'
import type { QueryRunner } from '@tollbook/ledger/database'
import type { LedgerKernel, RecordedEvent } from '@tollbook/ledger/port'
import { queryPrepared } from '@tollbook/ledger/queryPrepared'
import { decideRelease } from '../payment/attempt.ts'
import { paymentCodec } from '../payment/events.ts'
import { foldPayment } from './foldPayment.ts'
import { evolveAll, type PaymentState, unknownPayment } from '../payment/payment.ts'
import type { TabDebited } from '../payment/events/tabEvents.ts'
import { isTabFinal } from '../payment/tab.ts'
import { refuseEmptyTab } from '../payment/tabRefusal.ts'
import { isDebit } from '../payment/tabSettlement.ts'
import type {
  AppendOutcome,
  DeliveryQuestion,
  EarlierUse,
  RepeatableAnswer,
  KnownPayment,
  PaymentLookup,
  PaymentChange,
  PaymentLedger,
  SponsoredOrder,
  SponsoredPurchase,
  StoredAnswer,
} from '../payment/paymentLedger.ts'
import type { Log } from '../machine/log.ts'
import type { Fulfilment } from '../payment/receipt.ts'
import {
  isMessage,
  messageDigestOf,
  messageReference,
  type PaymentReference,
  type PresentedReference,
  referenceOfStream,
  streamIdOf,
  tabRequestOf,
} from '../payment/paymentReference.ts'
import { type Database, readOrFault } from './database.ts'
import { createDeposits, type Deposits } from './depositLimits.ts'
import {
  idempotencyKeyBytes,
  idempotencySpace,
  messageSpace,
  paymentItem,
  sponsoredOrderPrefix,
  sponsoredOrderSeconds,
  sponsoredOrderSpace,
  textOf,
} from './paymentItem.ts'
import type { PriceListStore } from './priceListStore.ts'
import { secondsOf, type SentAnswers } from './sentAnswers.ts'
import { findBoundQuote, findOpenQuote, type QuoteQueue } from './quoteStore.ts'
import { createRecentQuotes } from './recentQuotes.ts'
import type { TabStore } from './tabStore.ts'

export interface PaymentStoreDeps {
  /** Separate connections for requests without a verified payment, so that a flood of quotes does not delay claims. */
  readonly strangers: Database
  /** Connections for paid requests, so that requests of strangers cannot use them up. */
  readonly pool: QueryRunner
  readonly kernel: LedgerKernel
  readonly log: Log
  readonly quotes: QuoteQueue
  readonly priceLists: PriceListStore
  readonly sentAnswers: Pick<SentAnswers, 'add' | 'has'>
  readonly tabs: Pick<TabStore, 'find' | 'forget' | 'balanceBaseUnits' | 'spentTodayBaseUnits'>
  readonly repeatMs: number
}

// Maximum of purchases in one list. A wallet seldom has more than one undelivered purchase.
const purchasesMax = 16
const digestBytes = 32

export function createPaymentLedger(deps: PaymentStoreDeps): PaymentLedger {
  const { kernel, strangers: database, priceLists } = deps
  const recentQuotes = createRecentQuotes()
  const deposits = createDeposits(deps)
  return {
    lookUp: (question) => lookUp(deps, question),
    listUnreceived: (question) => listUnreceived(deps, question),
    append: (change) => append({ ...deps, deposits }, change),
    markSent: (answer) => deps.sentAnswers.add(answer),
    findDelivery: (question) => findDelivery(kernel, question),
    async recordQuote(quote, { sharesMemo } = {}) {
      await deps.quotes.submit(quote)
      if (sharesMemo !== true) recentQuotes.add(quote)
    },
    findOpenQuote: (question) => findOpenQuote({ database, priceLists }, question),
    findRecentOpenQuote: (question) => recentQuotes.findOpen(question),
    findBoundQuote: async (question) =>
      recentQuotes.find(question) ?? findBoundQuote({ database, priceLists }, question),
    findPrice: (endpoint, atMs, dollar) => priceLists.findPrice(endpoint, atMs, dollar),
  }
}

async function lookUp(deps: PaymentStoreDeps, question: PaymentLookup): Promise<KnownPayment> {
  // Read in this order, not concurrently. A payment that is read as fulfilled then always has its stored answer. A
  // caller who repeats the request is therefore not refused for a used payment.
  const reference = await resolve(deps, question.reference)
  const recorded = reference === undefined ? [] : await deps.kernel.read(streamIdOf(reference))
  return {
    payment: recorded.length === 0 ? await unrecorded(deps, question) : foldPayment(recorded),
    reference,
    earlier: await loadEarlierUse(deps, question),
    stored: reference === undefined ? undefined : await loadStored(deps, { ...question, reference }, recorded),
  }
}

/**
 * Returns the state of a payment that the ledger lacks. A debit is then final if the deposits of its tab are final,
 * because a debit has no transaction.
 */
async function unrecorded({ tabs }: PaymentStoreDeps, { reference }: PaymentLookup): Promise<PaymentState> {
  const request = tabRequestOf(reference)
  const tab = request === undefined ? undefined : await tabs.find(request.tab)
  return tab === undefined ? unknownPayment : { phase: 'unknown', version: 0, isFinal: isTabFinal(tab) }
}

interface Question {
  /** Unique for its text, because a connection reuses the prepared statement that has this name. */
  readonly name: string
  readonly what: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs a prepared query. Each connection prepares the statement once, so later requests skip its parsing. */
async function ask<Row extends QueryResultRow>(
  pool: QueryRunner,
  { name, what, text, values }: Question,
): Promise<readonly Row[]> {
  const { rows } = await readOrFault(what, () =>
    queryPrepared(pool, name, (statement) => pool.query<Row>({ ...statement, text, values: [...values] })),
  )
  return rows
}

const selectMessage = {
  name: 'payment_of_message',
  what: 'the message of a payment',
  text: 'select id from ledger.keys where space = $1 and key = $2',
}

async function resolve(
  { pool }: PaymentStoreDeps,
  reference: PresentedReference,
): Promise<PaymentReference | undefined> {
  if (!isMessage(reference)) return reference
  const values = [messageSpace, Buffer.from(messageDigestOf(reference) ?? '', 'hex')]
  const [row] = await ask<{ readonly id: Buffer }>(pool, { ...selectMessage, values })
  return row === undefined ? undefined : referenceOfStream(row.id)
}

const selectUnreceived = {
  name: 'unreceived_purchases',
  what: 'earlier payments of an order',
  text: `
  select substring(k.key from 33) as digest, extract(epoch from now() - k.until) as seconds
  from ledger.keys k
  join ledger.streams s on s.id = k.id
  where k.space = $1 and k.key > $2 and k.key < $3 and k.until > now()
    and (split_part(s.state, '.', 1) in ('submitted', 'claimed', 'streaming', 'released')
      or split_part(s.state, '.', 1) = 'fulfilled' and exists (select from ledger.notes n where n.id = k.id and n.sent_at is null))
  order by k.until
  limit ${purchasesMax}`,
}

async function listUnreceived(
  { pool }: PaymentStoreDeps,
  order: SponsoredOrder,
): Promise<readonly SponsoredPurchase[]> {
  const prefix = sponsoredOrderPrefix(order)
  // One byte more than a digest, so that the end of the range is above every key of the order.
  const values = [sponsoredOrderSpace, prefix, Buffer.concat([prefix, Buffer.alloc(digestBytes + 1, 255)])]
  const rows = await ask<{ readonly digest: Buffer; readonly seconds: string }>(pool, { ...selectUnreceived, values })
  return rows.map(({ digest, seconds }) => {
    const ageMs = (Number(seconds) + sponsoredOrderSeconds) * 1000
    return { message: messageReference(digest.toString('hex')), ageMs }
  })
}

interface AppendDeps extends PaymentStoreDeps {
  readonly deposits: Deposits
}

async function append(deps: AppendDeps, change: PaymentChange): Promise<AppendOutcome> {
  const { kernel, tabs } = deps
  assert(change.before.phase !== 'verified', 'a change is decided between appends')
  // If a change returns nothing to its tab, the balance stays unchanged, so read it at the same time as the append.
  const isWhole = change.events.every((event) => event.kind !== 'TabCaptured' || event.returned === undefined)
  const reading = isWhole && shownAfter.has(change.step) ? readBalance(deps, change.before) : undefined
  const result = await appendItem(deps, change)
  if (result.outcome === 'beyond') return { outcome: 'refused', refusal: result.refusal }
  const debited = change.events.find((event) => event.kind === 'TabDebited')
  if (result.outcome === 'appended') {
    const { recordedAtMs, leaves } = result
    const after = evolveAll(change.before, change.events, recordedAtMs)
    const beyond = debited === undefined ? undefined : await refuseBeyondDay(tabs, debited, change.nowMs)
    if (beyond === undefined || debited === undefined) {
      const balance = shownAfter.has(change.step) ? await (reading ?? readBalance(deps, after)) : {}
      return { outcome: 'appended', recordedAtMs, leaves, after, ...balance }
    }
    await releaseDebit(kernel, { ...change, before: after }, debited)
    return { outcome: 'refused', refusal: beyond }
  }
  const { reason } = result.refusal
  if (reason === 'conflict') return { outcome: 'conflict' }
  // A debit was committed after the tab was read for the reversal of its deposit. Read the tab again.
  if (reason === 'limit' && change.step === 'payment.reverse') return { outcome: 'conflict' }
  if (debited !== undefined && (reason === 'guard' || reason === 'limit'))
    return { outcome: 'refused', refusal: await refuseDebit(tabs, debited) }
  assert(
    reason === 'key_used',
    `${change.step} of ${change.reference} is not refused as ${JSON.stringify(result.refusal)}`,
  )
  return { outcome: 'idempotency_key_reused' }
}

function appendItem({ kernel, deposits }: AppendDeps, change: PaymentChange) {
  const { events, limits } = change
  const item = paymentItem(change)
  const deposited = events.find((event) => event.kind === 'TabOpened' || event.kind === 'TabToppedUp')
  if (deposited === undefined || limits === undefined) return kernel.append(item)
  const { tab, mint, depositBaseUnits: baseUnits } = deposited
  return deposits({ item, tab, mint, baseUnits, limits })
}

// Steps whose answer states the balance of the tab.
const shownAfter: ReadonlySet<string> = new Set(['tab_request.start', 'tab_request.capture'])

/**
 * Empty for a payment that is not a debit. Also empty if the balance cannot be read, because a paid answer must not
 * fail for this reason.
 */
async function readBalance({ tabs, log }: PaymentStoreDeps, payment: PaymentState) {
  if (!('settlement' in payment) || !isDebit(payment.settlement)) return {}
  const { debit, price } = payment.settlement
  try {
    return { tabBalanceBaseUnits: await tabs.balanceBaseUnits({ id: debit.tab, mint: price.mint }) }
  } catch (error) {
    log.warn({ event: 'tab_balance_not_read', tab: debit.tab, error: describeError(error) })
    return {}
  }
}

/**
 * Checks the daily limit again after the debit is committed, because concurrent requests all read the same sum before
 * their debits. Each sum includes every debit that was checked earlier, so the accepted debits together never exceed
 * the limit.
 */
async function refuseBeyondDay(
  tabs: PaymentStoreDeps['tabs'],
  { tab: id }: TabDebited,
  nowMs: number,
): Promise<Refusal | undefined> {
  const tab = assertPresent(await tabs.find(id), 'a tab that was debited is on record')
  const { maxPerDayBaseUnits } = tab.terms
  if (maxPerDayBaseUnits === undefined) return undefined
  if ((await tabs.spentTodayBaseUnits(tab, nowMs)) <= maxPerDayBaseUnits) return undefined
  return refuseProof(
    'tab_limit',
    `requests of this moment reach the tab's limit of this UTC day, ${maxPerDayBaseUnits}`,
  )
}

/** Does nothing if another instance has taken over the attempt, because that instance then decides on the hold. */
async function releaseDebit(
  kernel: LedgerKernel,
  { reference, before, nowMs }: Pick<PaymentChange, 'reference' | 'before' | 'nowMs'>,
  { attemptId }: TabDebited,
): Promise<void> {
  // The release of a debit ignores the maximum: the hold returns to the tab, so nothing is owed to the wallet. The next
  // debit checks the maximum.
  const released = decideRelease(before, { attemptId, reason: 'tab_limit', attemptsMax: Number.POSITIVE_INFINITY })
  assert(released !== undefined, 'the attempt was debited a moment ago')
  await kernel.append(paymentItem({ reference, before, ...released, nowMs }))
}

async function refuseDebit(
  tabs: PaymentStoreDeps['tabs'],
  { tab: id, price, lifecycle }: TabDebited,
): Promise<Refusal> {
  tabs.forget(id)
  const tab = assertPresent(await tabs.find(id), 'a tab that was debited is on record')
  if (tab.lifecycle.isClosed) return refuseProof('tab_closed')
  if (tab.lifecycle.version !== lifecycle) return refuseProof('tab_key_replaced')
  return refuseEmptyTab({ tab, price, balanceBaseUnits: await tabs.balanceBaseUnits(tab) })
}

async function findDelivery(
  kernel: LedgerKernel,
  { reference, attemptId }: DeliveryQuestion,
): Promise<Fulfilment | undefined> {
  const recorded = await kernel.read(streamIdOf(reference))
  const found = deliveryOf(recorded)
  const payment = foldPayment(recorded)
  if (found === undefined || found.attemptId !== attemptId || !('settlement' in payment)) return undefined
  const { settlement, endpoint } = payment
  const { position, leafHash, recordedAtMs } = found
  return { settlement, endpoint, attemptId, position, leafHash, recordedAtMs }
}

const selectKey = {
  name: 'idempotency_key',
  what: 'an idempotency key',
  text: `select k.id, k.digest, n.note from ledger.keys k left join ledger.notes n on n.id = k.id
  where k.space = $1 and k.key = $2 and k.until > now()`,
}

interface KeyRow {
  readonly id: Buffer
  readonly digest: Buffer | null
  readonly note: Buffer | null
}

/** Undefined if this wallet has not used the key in the last 24 hours. */
async function loadEarlierUse(deps: PaymentStoreDeps, question: PaymentLookup): Promise<EarlierUse | undefined> {
  const { wallet, idempotencyKey } = question
  if (idempotencyKey === undefined) return undefined
  const values = [idempotencySpace, idempotencyKeyBytes(wallet, idempotencyKey)]
  const [row] = await ask<KeyRow>(deps.pool, { ...selectKey, values })
  if (row === undefined) return undefined
  const reference = assertPresent(referenceOfStream(row.id), 'an idempotency key belongs to a payment')
  const orderDigest = assertPresent(row.digest, 'an idempotency key has a digest').toString('hex')
  const { id, note } = row
  // The stored note answers the order that was fulfilled. Another key of the same payment may belong to another order.
  const delivery = note === null ? undefined : findDeliveryTo(await deps.kernel.read(id), orderDigest)
  const answer =
    note === null || delivery === undefined ? undefined : { answerJson: note.toString('utf8'), ...delivery }
  return { reference, orderDigest, answer }
}

type RecordedDelivery = Omit<StoredAnswer, 'answerJson'>

function findDeliveryTo(recorded: readonly RecordedEvent[], orderDigest: string): RecordedDelivery | undefined {
  const found = deliveryOf(recorded)
  if (found?.orderDigest !== orderDigest) return undefined
  const { attemptId, position, leafHash, recordedAtMs } = found
  return { attemptId, position, leafHash, recordedAtMs }
}

/** Finds the delivery of a payment. On a tab, the debit states its attempt and its order. */
function deliveryOf(recorded: readonly RecordedEvent[]) {
  const found = recorded.find(({ kind }) => kind === 'RequestFulfilled' || kind === 'TabCaptured')
  if (found === undefined) return undefined
  const stated = found.kind === 'TabCaptured' ? recorded.findLast(({ kind }) => kind === 'TabDebited') : found
  const { event } = paymentCodec.decode(textOf(assertPresent(stated, 'a capture follows its debit').body))
  assert(event.kind === 'RequestFulfilled' || event.kind === 'TabDebited', 'a delivery states its attempt')
  const { attemptId, orderDigest } = event
  return { ...found, attemptId, orderDigest }
}

const selectStored = {
  name: 'stored_answer',
  what: 'a stored answer',
  text: `select note, sent_at is not null as is_sent from ledger.notes
  where id = $1 and (sent_at is null or sent_at > now() - make_interval(secs => $2))`,
}

async function loadStored(
  { pool, sentAnswers, repeatMs }: PaymentStoreDeps,
  { reference, orderDigest }: PaymentLookup & { readonly reference: PaymentReference },
  recorded: readonly RecordedEvent[],
): Promise<RepeatableAnswer | undefined> {
  const delivery = orderDigest === undefined ? undefined : findDeliveryTo(recorded, orderDigest)
  if (delivery === undefined) return undefined
  // Check before and after reading the table, because this process may be recording the sent answer at this moment.
  const wasSent = sentAnswers.has(reference)
  const values = [Buffer.from(streamIdOf(reference)), secondsOf(repeatMs)]
  const [row] = await ask<{ readonly note: Buffer; readonly is_sent: boolean }>(pool, { ...selectStored, values })
  if (row === undefined) return undefined
  const isSent = wasSent || row.is_sent || sentAnswers.has(reference)
  if (isSent && repeatMs === 0) return undefined
  return { answerJson: row.note.toString('utf8'), ...delivery, isSent }
}
