import pg from 'pg'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../src/primitives/log.ts'
import type { Settlement } from '../src/payment/settlement.ts'
import { openLedger } from '../src/store/openLedger.ts'
import { claimOf, sampleSettlement } from '../test/store/samplePayment.ts'
import { callsPerSecond } from './callers.ts'
import { type LedgerServer, startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { claimNaively } from './naiveClaim.ts'
import { type Bench, type BenchOptions, median, type Yardstick } from './yardstick.ts'

const callers = 32

/** Full claims through `store/`, the verification stubbed: three events, four entries, the payment's row, three projections. */
export const claims: Bench = {
  name: 'claims',
  about: `full claims a second at ${callers} callers, against single-row inserts and the naive transaction`,
  async run(options) {
    await using server = await startLedgerServer()
    const rounds = await measure(server, options)
    const middle = (pick: (round: Round) => number): number => median(rounds.map(pick))
    const rates = `claims ${rate(middle((round) => round.claims))}, inserts ${rate(middle((round) => round.inserts))}, naive ${rate(middle((round) => round.naive))}, claims of one caller ${rate(middle((round) => round.single))}`
    return [
      yardstick('full claims/s ÷ single-row insert commits/s, both at 32', 0.5, {
        value: middle((round) => round.claims / round.inserts),
        detail: rates,
      }),
      yardstick('full claims/s ÷ the naive interactive transaction, both at 32', 10, {
        value: middle((round) => round.claims / round.naive),
        detail: rates,
      }),
    ]
  },
}

interface Round {
  readonly inserts: number
  readonly claims: number
  readonly naive: number
  readonly single: number
}

async function measure(server: LedgerServer, options: BenchOptions): Promise<readonly Round[]> {
  const { rounds, roundSeconds, progress } = options
  await using opened = new AsyncDisposableStack()
  const { adminUrl, serviceUrl } = await server.createDatabase()
  const naiveDatabase = await server.createDatabase()
  const inserter = openPool(opened, adminUrl)
  const naive = openPool(opened, naiveDatabase.adminUrl)
  await inserter.query('create table public.plain (id bigserial primary key, signature bytea, body text)')
  const applicationName = 'bench'
  const ledger = await openLedger({ databaseUrl: serviceUrl, applicationName, clock: systemClock, log: silentLog })
  opened.defer(() => ledger.close())

  const claim = async (): Promise<void> => {
    const { outcome } = await ledger.payments.append(claimOf(nextSettlement()).change)
    assert(outcome === 'appended', 'each claim of the bench is the first of its payment')
  }
  const insert = () => inserter.query(insertRow)
  const claimNaive = () => claimNaively(naive, claimOf(nextSettlement()).change)
  const found: Round[] = []
  // The first round warms plans, pools and files up, and is thrown away.
  for (let round = 0; round <= rounds; round++) {
    const result: Round = {
      inserts: await callsPerSecond(callers, roundSeconds, insert),
      claims: await callsPerSecond(callers, roundSeconds, claim),
      naive: await callsPerSecond(callers, roundSeconds, claimNaive),
      single: await callsPerSecond(1, roundSeconds, claim),
    }
    if (round > 0) found.push(result)
    progress(
      `claims: round ${round} of ${rounds}, ratio ${(result.claims / result.inserts).toFixed(2)} (${rate(result.claims)} ÷ ${rate(result.inserts)})`,
    )
  }
  return found
}

/** A payment of the size that the facts were measured with: 64 bytes of signature and 265 of text. */
const insertRow = {
  name: 'insert',
  text: 'insert into public.plain (signature, body) values ($1, $2)',
  values: [Buffer.alloc(64, 1), 'x'.repeat(265)],
}

// Made in advance: in the service the chain makes them, and their random keys cost as much as a third of a claim.
const pool: Settlement[] = []
const poolSize = 20_000

function nextSettlement(): Settlement {
  if (pool.length === 0) pool.push(...Array.from({ length: poolSize }, () => sampleSettlement()))
  return assertPresent(pool.pop(), 'the pool of settlements has been filled')
}

function openPool(opened: AsyncDisposableStack, connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: callers, application_name: 'bench' })
  // An idle connection that is cut when the server stops is not a failure of the bench.
  pool.on('error', () => undefined)
  opened.defer(() => pool.end())
  return pool
}

function rate(perSecond: number): string {
  return `${Math.round(perSecond)}/s`
}

function yardstick(what: string, atLeast: number, found: { value: number; detail: string }): Yardstick {
  return { what, goal: { atLeast }, ...found }
}
