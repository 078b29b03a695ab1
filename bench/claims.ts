import pg from 'pg'
import { startLedgerServer } from '../test/proofs/ledgerServer.ts'
import { createDatabaseTemplate } from '../test/support/databaseTemplate.ts'
import { cloneTemplate, type TestDatabase } from '../test/support/testDatabase.ts'
import { type Claimer, openClaimer } from './claims/claimer.ts'
import { type Load, measureLoad } from './claims/processorTime.ts'
import { checkOut, thisTree, type Tree } from './claims/tree.ts'
import { hotShare, walOf } from './claims/writes.ts'
import { type Bench, type BenchOptions, median, type Yardstick } from './yardstick.ts'

const callers = 32
// The last commit whose ledger knew one kind of payment.
const earlierCommit = '1a13275'

/** Full claims through `store/`, of this tree and of the earlier append, in turn in one run against one server. */
export const claims: Bench = {
  name: 'claims',
  about: `full claims and payments at ${callers} callers, against single-row inserts, the naive transaction and the earlier append`,
  async run(options) {
    await using opened = new AsyncDisposableStack()
    const environment = await openEnvironment(opened)
    const rounds = await measureRounds(environment, options)
    const { now, earlier } = environment
    const wal = {
      now: await walOf(now.claimer, environment.admin),
      earlier: await walOf(earlier.claimer, environment.admin),
    }
    await now.claimer.close()
    const hot = await hotShare(now.database.adminUrl)
    return [...ratios(rounds), ...writes(wal, hot)]
  },
}

interface Side {
  readonly database: TestDatabase
  readonly claimer: Claimer
  readonly applicationName: string
}

interface Environment {
  readonly admin: pg.Client
  readonly inserter: pg.Pool
  readonly naive: () => Promise<void>
  readonly now: Side
  readonly earlier: Side
}

interface Migration {
  migrate(options: { databaseUrl: string }): Promise<unknown>
}

interface NaiveClaim {
  claimNaively(pool: pg.Pool, change: unknown): Promise<void>
}

const names = { insert: 'bench-insert', naive: 'bench-naive', now: 'bench-now', earlier: 'bench-earlier' }

async function openEnvironment(opened: AsyncDisposableStack): Promise<Environment> {
  const server = opened.use(await startLedgerServer())
  const tree = await checkOut(earlierCommit)
  opened.defer(async () => void (await tree.remove()))
  const { migrate }: Migration = await import(`${tree.root}/src/store/migrate.ts`)
  const template = await createDatabaseTemplate({ adminUrl: server.postgres.adminUrl, migrate })
  const admin = new pg.Client({ connectionString: server.postgres.adminUrl })
  await admin.connect()
  opened.defer(() => admin.end())
  const openSide = async (of: Tree, database: TestDatabase, applicationName: string): Promise<Side> => {
    const claimer = await openClaimer({ tree: of, databaseUrl: database.serviceUrl, applicationName })
    opened.defer(() => claimer.close())
    return { database, claimer, applicationName }
  }
  const earlier = await openSide(tree, await cloneTemplate(template), names.earlier)
  const now = await openSide(thisTree, await server.createDatabase(), names.now)
  const { claimNaively }: NaiveClaim = await import(`${tree.root}/bench/naiveClaim.ts`)
  const naivePool = openPool(opened, (await cloneTemplate(template)).adminUrl, names.naive)
  const inserter = openPool(opened, (await server.createDatabase()).adminUrl, names.insert)
  await inserter.query('create table public.plain (id bigserial primary key, signature bytea, body text)')
  return { admin, inserter, naive: () => claimNaively(naivePool, earlier.claimer.nextChange()), now, earlier }
}

interface Round {
  readonly insert: Load
  readonly naive: Load
  readonly claim: Load
  readonly claimEarlier: Load
  readonly pay: Load
  readonly payEarlier: Load
}

async function measureRounds(
  environment: Environment,
  { rounds, roundSeconds, progress }: BenchOptions,
): Promise<readonly Round[]> {
  const { admin, inserter, naive, now, earlier } = environment
  const load = (applicationName: string, call: () => Promise<unknown>) =>
    measureLoad({ callers, seconds: roundSeconds, call, admin, applicationName })
  const found: Round[] = []
  // The first round warms plans, pools and files up, and is thrown away.
  for (let round = 0; round <= rounds; round++) {
    now.claimer.prepare()
    earlier.claimer.prepare()
    const claim = (side: Side) => () => load(side.applicationName, side.claimer.claim)
    const pay = (side: Side) => () => load(side.applicationName, side.claimer.pay)
    const insert = await load(names.insert, () => inserter.query(insertRow))
    const claimed = await inTurn(round, claim(now), claim(earlier))
    const paid = await inTurn(round, pay(now), pay(earlier))
    const result: Round = {
      insert,
      naive: await load(names.naive, naive),
      claim: claimed[0],
      claimEarlier: claimed[1],
      pay: paid[0],
      payEarlier: paid[1],
    }
    if (round > 0) found.push(result)
    progress(`claims: round ${round} of ${rounds}, ${describe(result)}`)
  }
  return found
}

/** Which of two goes first alternates, because the first one finds the machine as the one before left it. */
async function inTurn(round: number, one: () => Promise<Load>, other: () => Promise<Load>): Promise<[Load, Load]> {
  if (round % 2 === 0) {
    const first = await one()
    return [first, await other()]
  }
  const first = await other()
  return [await one(), first]
}

/** A payment of the size that the facts were measured with: 64 bytes of signature and 265 of text. */
const insertRow = {
  name: 'insert',
  text: 'insert into public.plain (signature, body) values ($1, $2)',
  values: [Buffer.alloc(64, 1), 'x'.repeat(265)],
}

function openPool(opened: AsyncDisposableStack, connectionString: string, applicationName: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: callers, application_name: applicationName, idleTimeoutMillis: 0 })
  // An idle connection that is cut when the server stops is not a failure of the bench.
  pool.on('error', () => undefined)
  opened.defer(() => pool.end())
  return pool
}

function processorMicros({ nodeMicros, postgresMicros }: Load): number {
  return nodeMicros + postgresMicros
}

function describe({ insert, claim, claimEarlier, pay, payEarlier }: Round): string {
  const show = (load: Load) =>
    `${Math.round(load.perSecond)}/s ${Math.round(load.nodeMicros)}+${Math.round(load.postgresMicros)} µs`
  return `insert ${show(insert)}, claim ${show(claim)} (earlier ${show(claimEarlier)}), payment ${show(pay)} (earlier ${show(payEarlier)})`
}

function ratios(rounds: readonly Round[]): readonly Yardstick[] {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick))
  const rate = (pick: (round: Round) => Load): string => `${Math.round(middle((round) => pick(round).perSecond))}/s`
  const micros = (pick: (round: Round) => Load): string => {
    const part = (of: (load: Load) => number) => Math.round(middle((round) => of(pick(round))))
    return `${part((load) => load.nodeMicros)} + ${part((load) => load.postgresMicros)} µs`
  }
  const walls = `claims ${rate((round) => round.claim)}, inserts ${rate((round) => round.insert)}, earlier ${rate((round) => round.claimEarlier)}, naive ${rate((round) => round.naive)}`
  const times = `Node + Postgres: claim ${micros((round) => round.claim)}, insert ${micros((round) => round.insert)}, earlier ${micros((round) => round.claimEarlier)}`
  const payments = `payments ${rate((round) => round.pay)} ${micros((round) => round.pay)}, earlier ${rate((round) => round.payEarlier)} ${micros((round) => round.payEarlier)}`
  const yardstick = (what: string, atLeast: number, [value, detail]: readonly [number, string]): Yardstick => ({
    what,
    goal: { atLeast },
    value,
    detail,
  })
  const byWall = (pick: (round: Round) => readonly [Load, Load]): number =>
    middle((round) => {
      const [one, other] = pick(round)
      return one.perSecond / other.perSecond
    })
  const byProcessor = (pick: (round: Round) => readonly [Load, Load]): number =>
    middle((round) => {
      const [one, other] = pick(round)
      return processorMicros(other) / processorMicros(one)
    })
  return [
    yardstick('full claims ÷ single-row inserts, by wall time', 0.5, [
      byWall(({ claim, insert }) => [claim, insert]),
      walls,
    ]),
    yardstick('full claims ÷ single-row inserts, by processor time', 0.8, [
      byProcessor(({ claim, insert }) => [claim, insert]),
      times,
    ]),
    yardstick('full claims ÷ the naive interactive transaction, by wall time', 10, [
      byWall(({ claim, naive }) => [claim, naive]),
      walls,
    ]),
    yardstick('full claims ÷ those of the earlier append, by wall time', 1.3, [
      byWall(({ claim, claimEarlier }) => [claim, claimEarlier]),
      walls,
    ]),
    yardstick('full claims ÷ those of the earlier append, by processor time', 1.3, [
      byProcessor(({ claim, claimEarlier }) => [claim, claimEarlier]),
      times,
    ]),
    yardstick('payments (claim, fulfilment) ÷ those of the earlier append, by wall time', 1.3, [
      byWall(({ pay, payEarlier }) => [pay, payEarlier]),
      payments,
    ]),
    yardstick('payments ÷ those of the earlier append, by processor time', 1.3, [
      byProcessor(({ pay, payEarlier }) => [pay, payEarlier]),
      payments,
    ]),
  ]
}

interface Wal {
  readonly claimBytes: number
  readonly fulfilmentBytes: number
}

function writes(wal: { readonly now: Wal; readonly earlier: Wal }, hot: number): readonly Yardstick[] {
  const detail = (of: Wal) => `claim ${Math.round(of.claimBytes)} B, fulfilment ${Math.round(of.fulfilmentBytes)} B`
  const both = `now: ${detail(wal.now)}; earlier: ${detail(wal.earlier)}`
  return [
    {
      what: 'write-ahead log of a claim, now ÷ earlier',
      goal: { atMost: 0.8 },
      value: wal.now.claimBytes / wal.earlier.claimBytes,
      detail: both,
    },
    {
      what: 'write-ahead log of a fulfilment, now ÷ earlier',
      goal: { atMost: 0.6 },
      value: wal.now.fulfilmentBytes / wal.earlier.fulfilmentBytes,
      detail: both,
    },
    {
      what: 'share of updates of streams that are HOT',
      goal: { atLeast: 0.7 },
      value: hot,
      detail: 'pg_stat_user_tables, claims and fulfilments',
    },
  ]
}
