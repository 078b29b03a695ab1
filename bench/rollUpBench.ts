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
const callers = 64
const eventsPerPayment = 5
const names = { append: 'bench-append', rollUp: 'bench-rollup' }

/** Compares the roll-up of the reports with the append, and a ledger with itself as it grows. */
export const rollUpBench: Bench = {
  name: 'rollup',
  about:
    'processor time of the roll-up of the reports per event: against the append, and as the ledger grows (10⁷ events: --payments 2000000)',
  async run(options) {
    await using server = await startLedgerServer()
    const append = await measureAppend(server, options)
    return yardsticks(append, await measureRollUp(server, options))
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

/** Sizes of the ledger, in events, before which the roll-up is measured, as far as its payments reach. */
const sizes = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
/** Events before each size that are measured. */
const windowEvents = 90_000

interface RolledUp {
  readonly events: number
  readonly payments: number
  /** Microseconds per event of the whole ledger. */
  readonly whole: number
  /** Microseconds per event of the last events before each size. */
  readonly bySize: readonly { readonly size: number; readonly micros: number }[]
}

async function measureRollUp(server: LedgerServer, { payments, progress }: BenchOptions): Promise<RolledUp> {
  const { serviceUrl, adminUrl } = await server.createDatabase()
  const events = await seedLedger(serviceUrl, { payments, daysBack, progress })
  const admin = new pg.Client({ connectionString: adminUrl })
  const session = new pg.Client({ connectionString: serviceUrl, application_name: names.rollUp })
  await Promise.all([admin.connect(), session.connect()])
  try {
    await admin.query('vacuum analyze')
    let position = 0
    const rollUpTo = async (until: number): Promise<Mark> => {
      while (position < until) position += await rollUpOnce(session)
      return { position, micros: await backendMicros(admin, names.rollUp) }
    }
    const start = await rollUpTo(0)
    const bySize: { size: number; micros: number }[] = []
    for (const size of [...sizes.filter((each) => each < events), events]) {
      const from = await rollUpTo(size - windowEvents)
      const micros = microsPerEvent(from, await rollUpTo(size))
      bySize.push({ size, micros })
      progress(`rollup: ${micros.toFixed(1)} µs an event before ${size} events`)
    }
    return { events, payments, whole: microsPerEvent(start, await rollUpTo(events)), bySize }
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

function microsPerEvent(from: Mark, to: Mark): number {
  return (to.micros - from.micros) / (to.position - from.position)
}

function yardsticks(append: readonly number[], { events, payments, whole, bySize }: RolledUp): readonly Yardstick[] {
  const appendMicros = median(append)
  const windows = bySize.map(({ size, micros }) => `${micros.toFixed(1)} before ${size}`)
  const detail = `append ${appendMicros.toFixed(1)} µs an event (Node and Postgres, ${callers} callers); roll-up ${windows.join(', ')} events; ${payments} payments of 1,000 wallets, steps of ${eventsPerRollUpMax}`
  const [first, last] = [bySize[0], bySize.at(-1)].map((one) => one?.micros ?? Number.NaN)
  return [
    {
      what: 'roll-up per event ÷ append per event, processor time',
      value: whole / appendMicros,
      goal: { atMost: 0.5 },
      detail,
    },
    { what: 'roll-up of an event, µs of processor', value: whole, goal: { atMost: 20 }, detail },
    {
      what: `roll-up per event before ${events} events ÷ before ${bySize[0]?.size}`,
      value: (last ?? Number.NaN) / (first ?? Number.NaN),
      goal: { atMost: 1.2 },
      detail,
    },
  ]
}
