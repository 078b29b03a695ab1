import pg from 'pg'
import { eventsPerRollUpMax } from '../src/reports/rollUp.ts'
import { type LedgerServer, startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { openClaimer } from './claims/claimer.ts'
import { backendMicros, measureLoad } from './claims/processorTime.ts'
import { thisTree } from './claims/tree.ts'
import { seedLedger } from './seedLedger.ts'
import { type Bench, type BenchOptions, median, type Yardstick } from './yardstick.ts'

// A day of a busy service: no entry is late, and each of the 1,000 wallets pays many times.
const daysBack = 1
const shortPayments = 20_000
const callers = 64
const eventsPerPayment = 5
const names = { append: 'bench-append', rollUp: 'bench-rollup' }

/** Compares the roll-up of the reports with the append, and a long ledger with a short one. */
export const rollUpBench: Bench = {
  name: 'rollup',
  about: 'processor time of the roll-up of the reports per event: against the append, and at two sizes of the ledger',
  async run(options) {
    await using server = await startLedgerServer()
    const append = await measureAppend(server, options)
    const short = await measureRollUp(server, shortPayments, options)
    const long = await measureRollUp(server, options.payments, options)
    return yardsticks(append, short, long)
  },
}

/** Microseconds of Node and Postgres per event of payments that are claimed and delivered through the store. */
async function measureAppend(
  server: LedgerServer,
  { rounds, roundSeconds, progress }: BenchOptions,
): Promise<readonly number[]> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  const claimer = await openClaimer({ tree: thisTree, databaseUrl: serviceUrl, applicationName: names.append })
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const found: number[] = []
  try {
    // The first round warms plans and pools up, and is thrown away.
    for (let round = 0; round <= rounds; round++) {
      claimer.prepare()
      const load = { callers, seconds: roundSeconds, call: claimer.pay, admin, applicationName: names.append }
      const { nodeMicros, postgresMicros } = await measureLoad(load)
      const micros = (nodeMicros + postgresMicros) / eventsPerPayment
      if (round > 0) found.push(micros)
      progress(`rollup: append ${micros.toFixed(1)} µs an event`)
    }
    return found
  } finally {
    await admin.end()
    await claimer.close()
  }
}

interface RolledUp {
  readonly payments: number
  /** Microseconds per event. */
  readonly whole: number
  /** Microseconds per event of the last tenth. */
  readonly atEnd: number
}

async function measureRollUp(server: LedgerServer, payments: number, { progress }: BenchOptions): Promise<RolledUp> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  const events = await seedLedger(serviceUrl, { payments, daysBack, progress })
  const admin = new pg.Client({ connectionString: adminUrl })
  const session = new pg.Client({ connectionString: serviceUrl, application_name: names.rollUp })
  await Promise.all([admin.connect(), session.connect()])
  try {
    await admin.query('vacuum analyze')
    const marks = [{ position: 0, micros: await backendMicros(admin, names.rollUp) }]
    for (const until of [events * 0.9, events]) {
      let position = marks.at(-1)?.position ?? 0
      while (position < until) position += await rollUpOnce(session)
      marks.push({ position, micros: await backendMicros(admin, names.rollUp) })
    }
    const [start, late, end] = marks
    const rolled = { payments, whole: microsPerEvent(start, end), atEnd: microsPerEvent(late, end) }
    progress(
      `rollup: ${payments} payments, ${rolled.whole.toFixed(1)} µs an event, ${rolled.atEnd.toFixed(1)} at the end`,
    )
    return rolled
  } finally {
    await Promise.all([admin.end(), session.end()])
  }
}

async function rollUpOnce(session: pg.Client): Promise<number> {
  const { rows } = await session.query<{ rolled: string }>('select reports.roll_up($1) as rolled', [eventsPerRollUpMax])
  return Number(rows[0]?.rolled)
}

interface Mark {
  readonly position: number
  readonly micros: number
}

function microsPerEvent(from: Mark | undefined, to: Mark | undefined): number {
  if (from === undefined || to === undefined) return Number.NaN
  return (to.micros - from.micros) / (to.position - from.position)
}

function yardsticks(append: readonly number[], short: RolledUp, long: RolledUp): readonly Yardstick[] {
  const appendMicros = median(append)
  const detail = `append ${appendMicros.toFixed(1)} µs an event (Node and Postgres, ${callers} callers); roll-up ${[
    short,
    long,
  ]
    .map(({ payments, whole, atEnd }) => `${whole.toFixed(1)} at ${payments} payments (${atEnd.toFixed(1)} at the end)`)
    .join(', ')}; 1,000 wallets, steps of ${eventsPerRollUpMax}`
  return [
    {
      what: 'roll-up per event ÷ append per event, processor time',
      value: long.whole / appendMicros,
      goal: { atMost: 0.5 },
      detail,
    },
    { what: 'roll-up of an event, µs of processor', value: long.whole, goal: { atMost: 20 }, detail },
    {
      what: `roll-up per event at the end of ${long.payments} payments ÷ of ${short.payments}`,
      value: long.atEnd / short.atEnd,
      goal: { atMost: 1.2 },
      detail,
    },
  ]
}
