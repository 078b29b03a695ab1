import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { sampleReference, sampleSettlement } from '../../test/store/samplePayment.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { dropOldQuotes, quoteRetentionDays as retentionDays } from '../../src/store/quoteRetention.ts'
import { answersPerSecond } from '../autocannon.ts'
import type { Yardstick } from '../yardstick.ts'

const connections = 64
const daySeconds = 86_400
const gigabyte = 1e9
/** QUOTES_PER_ADDRESS_MAX quotes in the 300 s for which a quote is open. */
const perAddressPerSecond = 3_000 / 300
const oldQuotes = 100_000

export interface FloodOptions {
  readonly environment: ProofEnvironment
  readonly admin: pg.Client
  readonly baseUrl: string
  readonly seconds: number
}

/** A flood of quotes without limits, extended to days by arithmetic; and the job that drops a day of them. */
export async function measureQuoteFlood(options: FloodOptions): Promise<readonly Yardstick[]> {
  const { environment, admin, baseUrl, seconds } = options
  const before = await readStorage(admin)
  const perSecond = await answersPerSecond({
    url: `${baseUrl}/api/data/crypto?symbol=BTC`,
    seconds,
    connections,
    headers: { 'x-wallet-address': environment.payer.address },
    expected: '4xx',
  })
  const after = await readStorage(admin)
  const rowBytes = (after.bytes - before.bytes) / (after.rows - before.rows)
  const dayGigabytes = (perSecond * rowBytes * daySeconds) / gigabyte
  const bound = dayGigabytes * (retentionDays + 1)
  const limitedDay = (perAddressPerSecond * rowBytes * daySeconds) / gigabyte
  const flood = [
    `${Math.round(perSecond)} quotes/s of ${Math.round(rowBytes)} bytes over ${seconds} s and ${connections} connections without limits`,
    `that is ${dayGigabytes.toFixed(0)} GB a day`,
    `at most ${bound.toFixed(0)} GB are ever stored (${retentionDays} whole days and today)`,
    `with the default limits one client address makes ${limitedDay.toFixed(2)} GB a day and stores ${(limitedDay * (retentionDays + 1)).toFixed(1)} GB`,
  ].join('; ')
  const { tookMs, isStored } = await dropOldDay(environment, admin)
  return [
    {
      what: 'days of quotes that a flood of any length leaves in the table',
      value: retentionDays + 1,
      goal: { atMost: retentionDays + 1 },
      detail: flood,
    },
    {
      what: 'paid quotes lost when the job drops a day',
      value: isStored ? 0 : 1,
      goal: { atMost: 0 },
      detail: `a day of ${oldQuotes} quotes was dropped in ${tookMs.toFixed(0)} ms; the quote of a payment that was sent and not verified was kept`,
    },
  ]
}

interface Storage {
  readonly rows: number
  readonly bytes: number
}

async function readStorage(admin: pg.Client): Promise<Storage> {
  const { rows } = await admin.query<{ rows: string; bytes: string }>(
    'select (select count(*) from ledger.quotes) as rows, (select bytes from ledger.quote_storage()) as bytes',
  )
  const row = assertPresent(rows[0], 'the storage is one row')
  return { rows: Number(row.rows), bytes: Number(row.bytes) }
}

/** Fills a day of last week, sends a payment with one of its quotes, and lets the role of the job drop the day. */
async function dropOldDay({ database }: ProofEnvironment, admin: pg.Client) {
  await asOwner(database.ownerUrl, addOldDay)
  await admin.query(fillOldDay, [oldQuotes])
  await submitWith('old 1', database.serviceUrl)
  await admin.query(`grant tollbook_retention to ${admin.escapeIdentifier(new URL(database.serviceUrl).username)}`)
  const startedAtMs = systemClock.monotonicMs()
  await dropOldQuotes({ databaseUrl: database.serviceUrl, log: silentLog })
  const tookMs = systemClock.monotonicMs() - startedAtMs
  const { rows } = await admin.query<{ id: string }>("select id from ledger.quotes where id like 'old %'")
  return { tookMs, isStored: rows.length === 1 && rows[0]?.id === 'old 1' }
}

const addOldDay = `
  select ledger.add_partition('ledger.quotes', 'quotes_' || to_char(d.day, 'YYYYMMDD'),
    array[d.day::text || ' 00:00:00+00', (d.day + 1)::text || ' 00:00:00+00'])
  from (select (now() at time zone 'UTC')::date - 7 as day) d`

const fillOldDay = `
  select ledger.record_quotes(array_agg('old ' || n), array_agg('wallet'::text), array_agg('/api/data/crypto'::text), array_agg('memo ' || n),
    array_agg(1), array_agg('mint'::text), array_agg(1::numeric), array_agg(m.ms), array_agg(m.ms + 300000), array_agg(1::bigint))
  from generate_series(1, $1) n,
    lateral (select (extract(epoch from (now() at time zone 'UTC')::date - 7) * 1000)::bigint + n as ms) m`

async function asOwner(databaseUrl: string, statement: string): Promise<void> {
  const owner = new pg.Client({ connectionString: databaseUrl })
  await owner.connect()
  try {
    await owner.query(statement)
  } finally {
    await owner.end()
  }
}

async function submitWith(quoteId: string, databaseUrl: string): Promise<void> {
  const ledger = await openLedger({ databaseUrl, applicationName: 'bench', clock: systemClock, log: silentLog })
  try {
    const { wallet, price } = sampleSettlement()
    const command = { wallet, endpoint: price.endpoint, quoteId, transactionBase64: 'AQ==' }
    const decision = assertPresent(decideSubmit(unknownPayment, command), 'an unknown payment can be sent')
    const nowMs = systemClock.nowMs()
    await ledger.payments.append({ reference: sampleReference(), before: unknownPayment, ...decision, nowMs })
    await ledger.lifecycle.followOpenWork()
  } finally {
    await ledger.close()
  }
}
