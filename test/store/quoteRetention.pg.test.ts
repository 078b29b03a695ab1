import { expect, test } from 'vitest'
import type { Quote } from '@tollbook/core/quote'
import { dropOldQuotes, quoteRetentionDays } from '../../src/store/quoteRetention.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openInstance } from './instance.ts'
import { claimOf, sampleQuote, sampleReference, sampleSettlement } from './samplePayment.ts'

const dayMs = 24 * 60 * 60 * 1000
const database = await createTestDatabase()
const ledger = await openInstance(database.serviceUrl)
const owner = openPool(database.ownerUrl, 1)
const admin = openPool(database.adminUrl, 1)
const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_retention')
const keeper = openPool(databaseUrl, 1)
const retention = { databaseUrl, log: silentLog }

async function recordQuoteOf(daysAgo: number): Promise<Quote> {
  const issuedAtMs = Date.now() - daysAgo * dayMs
  const day = new Date(issuedAtMs).toISOString().slice(0, 10)
  const next = new Date(issuedAtMs + dayMs).toISOString().slice(0, 10)
  await owner.query("select ledger.add_partition('ledger.quotes', $1, $2)", [
    `quotes_${day.replaceAll('-', '')}`,
    [`${day} 00:00:00+00`, `${next} 00:00:00+00`],
  ])
  const quote = sampleQuote({ issuedAtMs })
  await ledger.payments.recordQuote(quote)
  return quote
}

async function submitWith(quote: Quote): Promise<void> {
  const { wallet, endpoint, id: quoteId } = quote
  const decision = decideSubmit(unknownPayment, { wallet, endpoint, quoteId, transactionBase64: 'AQ==' })
  if (decision === undefined) throw new Error('an unknown payment can be sent')
  await ledger.payments.append({ reference: sampleReference(), before: unknownPayment, ...decision, nowMs: Date.now() })
}

async function storedIds(): Promise<readonly string[]> {
  return (await admin.query<{ id: string }>('select id from ledger.quotes order by issued_at')).rows.map(({ id }) => id)
}

test('days beyond the retention are dropped whole, but never the quote of a payment that was sent and not verified', async () => {
  const [sent, old, young] = [await recordQuoteOf(20), await recordQuoteOf(19), await recordQuoteOf(2)]
  const last = await recordQuoteOf(quoteRetentionDays)
  await recordQuoteOf(20)
  await submitWith(sent)
  await ledger.lifecycle.followOpenWork()

  expect(await dropOldQuotes(retention)).toHaveLength(2)

  expect(await storedIds()).toEqual([sent.id, last.id, young.id])
  expect(await storedIds()).not.toContain(old.id)
  const { rows } = await admin.query('select * from ledger.quotes where memo = $1', [sent.memo])
  expect(rows).toEqual([expect.objectContaining({ id: sent.id, required: sent.requiredBaseUnits.toString() })])
  expect(await dropOldQuotes(retention)).toEqual([])
})

test('a quote that was kept outlives the next days that are dropped', async () => {
  const before = await storedIds()
  await recordQuoteOf(10)

  expect(await dropOldQuotes(retention)).toHaveLength(1)

  expect(await storedIds()).toEqual(before)
})

test('nothing is dropped while the list of open payments is a day behind the ledger', async () => {
  const old = await recordQuoteOf(6)
  await submitWith(old)
  await admin.query(`
    begin;
    alter table ledger.events disable trigger all;
    alter table ledger.events_0 disable trigger all;
    update ledger.events set recorded_at = recorded_at - interval '25 hours';
    alter table ledger.events_0 enable trigger all;
    alter table ledger.events enable trigger all;
    commit`)

  expect(await dropOldQuotes(retention)).toEqual([])

  await ledger.lifecycle.followOpenWork()
  expect(await dropOldQuotes(retention)).toHaveLength(1)
  expect(await storedIds()).toContain(old.id)
})

test('the role of the job drops days by its function, keeps three at least, and can do nothing else', async () => {
  await recordQuoteOf(5)
  await expect(keeper.query('select ledger.drop_old_quotes(2)')).rejects.toThrow('at least 3 days')
  const stored = await storedIds()
  for (const statement of [
    'select * from ledger.quotes',
    'delete from ledger.quotes',
    'truncate ledger.quotes',
    'drop table ledger.quotes_kept',
    'drop table ledger.events_0',
    'alter table ledger.quotes disable trigger all',
    'select ledger.add_partitions()',
    'select * from ledger.events',
    'select * from work.open',
  ])
    await expect(keeper.query(statement), statement).rejects.toThrow(/permission denied|must be owner/)
  const service = openPool(database.serviceUrl, 1)
  await expect(service.query('select ledger.drop_old_quotes(3)')).rejects.toThrow('permission denied')
  expect(await storedIds()).toEqual(stored)
})

test('the size of the table and its oldest day are read for the metrics', async () => {
  const storage = await ledger.readQuoteStorage()
  expect(storage.oldestDays).toBe(5)
  expect(storage.bytes).toBeGreaterThan(8_192)
})

test('lookups of quotes that hang take no connection from claims', async () => {
  const blocker = await admin.connect()
  try {
    await blocker.query('begin; lock table ledger.quotes in access exclusive mode')
    let answered = 0
    const { wallet, endpoint } = sampleQuote()
    const question = { wallet, endpoint, landedAtMs: Date.now(), landedSlot: 1, graceMs: 0 }
    const lookups = Array.from({ length: 40 }, () =>
      ledger.payments.findOpenQuote(question).then(
        () => answered++,
        () => answered++,
      ),
    )
    const { change } = claimOf(sampleSettlement())

    expect((await ledger.payments.append(change)).outcome).toBe('appended')

    expect(answered).toBe(0)
    await blocker.query('rollback')
    await Promise.all(lookups)
  } finally {
    blocker.release()
  }
})
