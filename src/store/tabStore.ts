import { LRUCache } from 'lru-cache'
import type { Address } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { TabId } from '@tollbook/core/tab'
import type { QueryRunner } from '@tollbook/ledger/database'
import type { LedgerKernel, RecordedEvent } from '@tollbook/ledger/port'
import { prepaidOn } from '../accounting/account.ts'
import { paymentCodec, tabLifecycleCodec } from '../payment/events.ts'
import { isFinal } from '../payment/payment.ts'
import { type PaymentReference, referenceOfStream, streamIdOf } from '../payment/paymentReference.ts'
import type { TabCloser } from '../payment/events/tabEvents.ts'
import {
  decideClose,
  decideKeys,
  decideReturn,
  evolveLifecycle,
  newLifecycle,
  type Tab,
  type TabDepositOnRecord,
  type TabLifecycle,
  type TabLifecycleDecision,
} from '../payment/tab.ts'
import type { TabLedger } from '../payment/tabLedger.ts'
import { type Database, assertRow, readRows } from './database.ts'
import { itemEvent, textOf } from './paymentItem.ts'
import { foldPayment } from './foldPayment.ts'
import { createBalanceReader, type ReadBalance } from './tabBalances.ts'
import { depositSpace, lifecycleStreamId, tabBytes } from './tabKeys.ts'

export interface TabStoreDeps {
  readonly database: Database
  readonly pool: QueryRunner
  readonly kernel: LedgerKernel
  readonly clock: Clock
}

/**
 * Tabs of the ledger. Call `forget` after an append was refused because the tab had changed: the next lookup then reads
 * the tab again.
 */
export interface TabStore extends TabLedger {
  forget(tab: TabId): void
}

const cachedMax = 10_000
// Lifetime of a cached tab: a busy tab is read every two seconds. The append refuses a debit that was decided on an
// older lifecycle, so a stale tab does no harm.
const cachedMs = 2_000

export function createTabStore(deps: TabStoreDeps): TabStore {
  const { clock, pool } = deps
  const readBalance = createBalanceReader(pool)
  const cache = new LRUCache<TabId, Promise<Tab | undefined>>({
    max: cachedMax,
    ttl: cachedMs,
    ttlResolution: 0,
    perf: { now: () => clock.monotonicMs() },
  })
  const find = (tab: TabId): Promise<Tab | undefined> => {
    const known = cache.get(tab)
    if (known !== undefined) return known
    const reading = readTab(deps, tab)
    cache.set(tab, reading)
    // Drop the entry after a failure, and if no tab was found, because its deposit may be in the middle of being
    // recorded.
    reading.then((found) => found ?? cache.delete(tab)).catch(() => cache.delete(tab))
    return reading
  }
  const change: Change = async (tab, decision, nowMs) => {
    if (decision === undefined) return false
    const { outcome } = await deps.kernel.append(lifecycleItem(tab, decision, nowMs))
    cache.delete(tab.id)
    return outcome === 'appended'
  }
  return {
    find,
    async findAgain(tab) {
      if ((await cache.get(tab.id)) === tab) cache.delete(tab.id)
      return find(tab.id)
    },
    forget: (tab) => void cache.delete(tab),
    balanceBaseUnits: readBalance,
    spentTodayBaseUnits: (tab, nowMs) => readSpent(deps, tab, nowMs),
    listHolding: () => listHolding(deps),
    totals: (mint) => readTabTotals(deps.database, mint),
    close: (tab, by, nowMs) => closeTab({ ...deps, change, readBalance }, tab, { by, nowMs }),
    replaceKeys: (tab, keys, nowMs) => change(tab, decideKeys(tab, keys), nowMs),
  }
}

function lifecycleItem(
  { id, lifecycle }: Pick<Tab, 'id' | 'lifecycle'>,
  { step, events: [event] }: TabLifecycleDecision,
  nowMs: number,
) {
  const header = { stream: `tab:${id}`, version: lifecycle.version + 1, effectiveAtMs: nowMs }
  const events = [itemEvent(tabLifecycleCodec, event, header)]
  return { stream: lifecycleStreamId(id), step, expectedVersion: lifecycle.version, events }
}

async function readTab({ database, kernel }: TabStoreDeps, id: TabId): Promise<Tab | undefined> {
  const { from, to } = depositKeysOf(id)
  const rows = await readRows(database, 'the deposits of a tab')<{ id: Buffer; is_first: boolean }>`
    select k.id, substring(k.key from 17) = ${from} as is_first from ledger.keys k
    where k.space = ${depositSpace} and k.key >= ${from} and k.key < ${to}`
  // The opening deposit comes first, because it has the wallet, the mint and the terms of the tab.
  const sorted = rows.toSorted((one, other) => Number(other.is_first) - Number(one.is_first))
  const references = sorted.map((row) => assertPresent(referenceOfStream(row.id), 'a deposit is a payment'))
  if (references.length === 0) return undefined
  const streams = await kernel.readMany([...references.map(streamIdOf), lifecycleStreamId(id)])
  const lifecycle = foldLifecycle(streams.at(-1) ?? [])
  const deposits = references.map((reference, index) => readDeposit(reference, streams[index] ?? []))
  const [opening] = deposits
  const opened = opening?.opened
  assert(opened !== undefined && opening !== undefined, 'a tab begins with a deposit')
  return {
    id,
    wallet: opened.wallet,
    mint: opened.mint,
    deposit: opening.onRecord.reference,
    evidence: opening.settlement.evidence,
    terms: opened.terms,
    ...(lifecycle.keys ?? { sessionKey: opened.terms.sessionKey, bearerHash: opened.terms.bearerHash }),
    lifecycle,
    deposits: deposits.map(({ onRecord }) => onRecord),
  }
}

function depositKeysOf(tab: TabId) {
  const from = Buffer.from(tabBytes(tab))
  // One byte more than a tab id, so that the end of the range is above every key of the tab.
  return { from, to: Buffer.concat([from, Buffer.alloc(from.length + 1, 255)]) }
}

function readDeposit(reference: PaymentReference, recorded: readonly RecordedEvent[]) {
  const payment = foldPayment(recorded)
  const events = recorded.map(({ body, effectiveAtMs }) => ({
    ...paymentCodec.decode(textOf(body)).event,
    effectiveAtMs,
  }))
  // The state of a dropped deposit that landed later has no settlement any more.
  const verified = events.find((event) => event.kind === 'PaymentVerified')
  const { settlement } = assertPresent(verified, 'a deposit was verified')
  const opened = events.find((event) => event.kind === 'TabOpened')
  const deposited = assertPresent(opened ?? events.find((event) => event.kind === 'TabToppedUp'), 'a deposit was made')
  const isDropped = payment.phase === 'reversed' || payment.phase === 'unmatched'
  const standing = isDropped ? 'reversed' : isFinal(payment) ? 'final' : 'open'
  const { depositBaseUnits: baseUnits, effectiveAtMs } = deposited
  const lostBaseUnits = events.find((event) => event.kind === 'DepositReversed')?.spentBaseUnits ?? 0n
  const onRecord: TabDepositOnRecord = { reference, baseUnits, effectiveAtMs, standing, lostBaseUnits }
  return { onRecord, opened, settlement }
}

function foldLifecycle(recorded: readonly RecordedEvent[]): TabLifecycle {
  return recorded.reduce(
    (lifecycle, { body }) => evolveLifecycle(lifecycle, tabLifecycleCodec.decode(textOf(body)).event),
    newLifecycle,
  )
}

const prepaidPrefix = prepaidOn('')

async function listHolding({ database }: TabStoreDeps): Promise<readonly TabId[]> {
  const rows = await readRows(database, 'the tabs that hold something')<{ name: string }>`
    select distinct name from ledger.accounts where name like ${`${prepaidPrefix}%`} and balance <> 0`
  return rows.map(({ name }) => name.slice(prepaidPrefix.length))
}

export async function readTabTotals(database: Database, mint: Address) {
  const sums = await assertRow(database, 'the totals of tabs')<{ tabs: number; prepaid: string; refunds: string }>`
    select count(*) filter (where name like ${`${prepaidPrefix}%`} and balance <> 0)::integer as tabs,
      coalesce(-sum(balance) filter (where name like ${`${prepaidPrefix}%`}), 0)::text as prepaid,
      coalesce(-sum(balance) filter (where name like 'Liabilities:RefundsDue:%'), 0)::text as refunds
    from ledger.accounts
    where mint = ${mint} and (name like ${`${prepaidPrefix}%`} or name like 'Liabilities:RefundsDue:%')`
  return { tabs: sums.tabs, prepaidBaseUnits: BigInt(sums.prepaid), refundsDueBaseUnits: BigInt(sums.refunds) }
}

const dayMs = 24 * 60 * 60 * 1000

// Maximum of readings. A tab has few deposits, and each deposit takes seconds on the chain, so the readings soon agree.
const spentTriesMax = 4

/**
 * Returns the amount that a tab has spent today: the tally of the day plus the deposits of the day. The tally is the
 * amount that was taken, less the deposits and the returned holds. A deposit that `known` lacks would hide spending, so
 * the tab is then read again.
 */
async function readSpent(deps: TabStoreDeps, known: Tab, nowMs: number): Promise<bigint> {
  const fromMs = nowMs - (nowMs % dayMs)
  let tab = known
  for (let tries = 1; tries <= spentTriesMax; tries++) {
    const { amountBaseUnits, deposits } = await readTally(deps, tab, fromMs)
    if (deposits === tab.deposits.length)
      return tab.deposits
        .filter(({ effectiveAtMs }) => effectiveAtMs >= fromMs)
        .reduce((sum, { baseUnits }) => sum + baseUnits, amountBaseUnits)
    tab = assertPresent(await readTab(deps, tab.id), 'a tab stays on record')
  }
  throw new Fault('deposits of the tab kept arriving; repeat the request', { retryable: true })
}

/** Counts the deposits in the same statement, so that the tally and the count are of the same moment. */
async function readTally({ database }: TabStoreDeps, { id, mint }: Tab, fromMs: number) {
  const { from, to } = depositKeysOf(id)
  const { amount, deposits } = await assertRow(database, 'the spending of a tab today')<{
    amount: string
    deposits: number
  }>`
    select coalesce(sum(t.amount), 0)::text as amount, (
      select count(*)::integer from ledger.keys k where k.space = ${depositSpace} and k.key >= ${from} and k.key < ${to}
    ) as deposits
    from ledger.tallies t
    where t.account = (select a.id from ledger.accounts a where a.mint = ${mint} and a.name = ${prepaidOn(id)})
      and t.hour >= ${new Date(fromMs)}`
  return { amountBaseUnits: BigInt(amount), deposits }
}

/** False if there is no decision, or another change was recorded first. */
type Change = (tab: Tab, decision: TabLifecycleDecision | undefined, nowMs: number) => Promise<boolean>

interface ClosingDeps extends TabStoreDeps {
  readonly change: Change
  readonly readBalance: ReadBalance
}

interface Closing {
  readonly by: TabCloser
  readonly nowMs: number
}

// Maximum of tries. A closing has four steps: close, take back, owe, and a last check. Another change of the tab may
// force each step once more.
const triesMax = 8

/**
 * Closes the tab and owes the unspent balance to the wallet, in one append if no debit comes between. Otherwise the
 * first append only closes the tab, so that no new debit lowers the balance before the next append owes it. If the
 * chain could still drop a deposit, a later call owes the balance.
 */
async function closeTab(deps: ClosingDeps, id: TabId, { by, nowMs }: Closing) {
  const { change, readBalance } = deps
  let hasChanged = false
  let tab = await readTab(deps, id)
  for (let tries = 1; tab !== undefined && tries <= triesMax; tries++) {
    const balanceBaseUnits = await readBalance(tab)
    // Read the tab after its balance. The balance could otherwise contain a new deposit that the chain could still
    // drop.
    tab = assertPresent(await readTab(deps, id), 'a tab stays on record')
    const decision = decideClose(tab, by, tries === 1 ? balanceBaseUnits : 0n) ?? decideReturn(tab, balanceBaseUnits)
    if (decision === undefined) return { restBaseUnits: tab.lifecycle.owedBaseUnits + balanceBaseUnits, hasChanged }
    hasChanged = (await change(tab, decision, nowMs)) || hasChanged
  }
  if (tab === undefined) return undefined
  throw new Fault('the tab kept changing while it was being closed; repeat the request', { retryable: true })
}
