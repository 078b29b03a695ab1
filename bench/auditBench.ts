import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { z } from 'zod'
import { assert } from '../src/primitives/assert.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { type LedgerServer, startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { seedLedger } from './seedLedger.ts'
import { type Bench, type BenchOptions, median } from './yardstick.ts'

// A payment has five events, and one in twenty a failed attempt more.
const eventsPerPayment = 5.1
const shortShare = 10
const daysBack = 120

export const auditBench: Bench = {
  name: 'audit',
  about: 'an audit of a whole live book against COPY … TO STDOUT of the rows that it reads, and its memory',
  async run(options) {
    await using server = await startLedgerServer()
    const { payments: events, rounds, progress } = options
    const long = await openBook(server, events, options)
    const short = await openBook(server, Math.ceil(events / shortShare), options)
    const found: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const result = { ...(await measure(long)), shortRssKb: (await auditIn(short)).maxRssKb }
      // The first round warms the server's memory up.
      if (round > 0) found.push(result)
      progress(`audit: round ${round} of ${rounds}, ${seconds(result.audit)} audited, ${seconds(result.text)} copied`)
    }
    const middle = (pick: (round: Round) => number): number => median(found.map(pick))
    const binary = middle((round) => round.audit / round.binary).toFixed(2)
    const eventsOnly = middle((round) => round.audit / round.eventsText).toFixed(2)
    const replayed = middle((round) => round.replayed / round.text).toFixed(2)
    const rate = Math.round(events / (middle((round) => round.audit) / 1000))
    const [longMb, shortMb] = [middle((round) => round.rssKb) / 1024, middle((round) => round.shortRssKb) / 1024]
    return [
      {
        what: `audit, every payer's signature included ÷ COPY … TO STDOUT of the same rows, ${events} events`,
        value: middle((round) => round.audit / round.text),
        goal: { atMost: 3.3 },
        detail: `${seconds(middle((round) => round.audit))} for the whole process, ${rate} events/s, ${seconds(middle((round) => round.text))} for COPY; ÷ COPY of the events alone ${eventsOnly}, ÷ binary COPY ${binary}; without the signatures of the stored transactions ${replayed}`,
      },
      {
        what: `resident memory of the audit at ${events} events ÷ at ${Math.ceil(events / shortShare)}`,
        value: middle((round) => round.rssKb / round.shortRssKb),
        goal: { atMost: 1.5 },
        detail: `${longMb.toFixed(0)} MB and ${shortMb.toFixed(0)} MB at the most`,
      },
    ]
  },
}

interface Round {
  readonly text: number
  readonly eventsText: number
  readonly binary: number
  readonly audit: number
  readonly replayed: number
  readonly rssKb: number
  readonly shortRssKb: number
}

async function openBook(server: LedgerServer, events: number, { progress }: BenchOptions): Promise<string> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  const payments = Math.ceil(events / eventsPerPayment)
  await seedLedger(serviceUrl, { payments, daysBack, progress: (line) => progress(`audit: ${line}`) })
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  // As a database that has been there for a while.
  await admin.query('vacuum analyze')
  await admin.end()
  return serviceUrl
}

async function measure(url: string): Promise<Omit<Round, 'shortRssKb'>> {
  const eventsText = await copyMs(url, 'events', 'text')
  const text = eventsText + (await copyMs(url, 'entries', 'text')) + (await copyMs(url, 'payments', 'text'))
  const binary =
    (await copyMs(url, 'events', 'binary')) +
    (await copyMs(url, 'entries', 'binary')) +
    (await copyMs(url, 'payments', 'binary'))
  const { ms: audit, maxRssKb: rssKb } = await auditIn(url)
  const { ms: replayed } = await auditIn(url, 'no-transactions')
  return { eventsText, text, binary, audit, replayed, rssKb }
}

const inOrder: Readonly<Record<string, string>> = {
  events: 'order by seq',
  entries: 'order by seq, line',
  payments: '',
}
// ReadyForQuery outside of a database transaction: the last message of an answer.
const readyForQuery = Buffer.from('5a0000000549', 'hex')

/** A client that does nothing with what it gets, not even take it for rows. */
async function copyMs(url: string, table: string, format: 'text' | 'binary'): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const startedAtMs = systemClock.monotonicMs()
  await new Promise<void>((resolve, reject) => {
    const query: pg.Submittable & { handleError: (error: unknown) => void } = {
      submit(connection) {
        connection.stream.removeAllListeners('data')
        connection.stream.on('data', (chunk: Buffer) => {
          if (chunk.subarray(-readyForQuery.length).equals(readyForQuery)) resolve()
        })
        connection.query(`copy (select * from ledger.${table} ${inOrder[table]}) to stdout (format ${format})`)
      },
      handleError: reject,
    }
    client.query(query)
  })
  const durationMs = systemClock.monotonicMs() - startedAtMs
  await client.end()
  return durationMs
}

const auditProcess = fileURLToPath(new URL('auditProcess.ts', import.meta.url))
const printed = z.object({ events: z.int(), durationMs: z.int(), findings: z.int(), maxRssKb: z.int() })

/** The time of the whole process, from its start to its end. */
async function auditIn(url: string, transactions = ''): Promise<{ ms: number; maxRssKb: number }> {
  const startedAtMs = systemClock.monotonicMs()
  const { stdout } = await promisify(execFile)(process.execPath, [auditProcess, url, transactions])
  const { findings, maxRssKb } = printed.parse(JSON.parse(stdout))
  assert(findings === 0, 'the audited book holds')
  return { ms: systemClock.monotonicMs() - startedAtMs, maxRssKb }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
