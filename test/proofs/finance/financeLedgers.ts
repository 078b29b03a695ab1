import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { tmpdir } from 'node:os'
import { z } from 'zod'
import { startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { type Home, openHome } from '../../../src/cli/local/home.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { createDatabaseTemplate, dropDatabaseTemplate } from '../../support/databaseTemplate.ts'
import { withAdminSession } from '../../support/adminSession.ts'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import { cloneTemplate, openedDatabase, type TestDatabase } from '../../support/testDatabase.ts'
import { openEnvironment } from '../proofEnvironment.ts'
import { say } from '../verdict.ts'
import { type FinanceService, serveFinance } from './financeService.ts'
import { multiplyLedger } from './multiplyLedger.ts'
import { seedLedger } from './seedLedger.ts'

export interface LedgersOptions {
  /** Keeps the cluster, the keys and the chains for the next run, which then seeds nothing. */
  readonly folder: string | undefined
  /** Payments that the kernel's own append records. */
  readonly appended: number
  /** Each of them is multiplied by this for the long ledger. */
  readonly factor: number
}

/** The service twice: on a short ledger, and on the same one multiplied. */
export interface FinanceLedgers extends AsyncDisposable {
  readonly short: FinanceService
  readonly long: FinanceService
  /** The superuser's URL of the long one. */
  readonly longUrl: string
}

const seeded = z.object({ short: z.string(), long: z.string(), appended: z.int(), factor: z.int() })
type Seeded = z.infer<typeof seeded>

// A seed writes gigabytes at once; a checkpoint for each would write most pages several times.
const settings = { max_connections: '100', max_wal_size: '8GB', checkpoint_timeout: '30min' }

export async function openFinanceLedgers(options: LedgersOptions): Promise<FinanceLedgers> {
  await using opened = new AsyncDisposableStack()
  const folder = await openFolder(options.folder, opened)
  const home = await openHome(join(folder, 'home'))
  const { adminUrl, stop } = await startEmbeddedPostgres({
    dataDirectory: join(folder, 'postgres'),
    log: silentLog,
    settings,
  })
  opened.defer(stop)
  const file = join(folder, 'ledgers.json')
  const found = await readSeeded(file)
  const known = found ?? (await seedBoth(adminUrl, home, options))
  if (found === undefined) await writeFile(file, JSON.stringify(known))
  else say(`ledgers of ${found.appended} and ${found.appended * found.factor} payments found in ${folder}`)
  const serve = async (name: 'short' | 'long', payments: number): Promise<FinanceService> => {
    const database = openedDatabase(adminUrl, known[name])
    await migrate({ databaseUrl: database.ownerUrl })
    const startServer = () => Promise.resolve(serverOf(database))
    const stored = { home, chainDirectory: join(folder, `chain-${name}`) }
    const environment = opened.use(await openEnvironment({ startServer, stored }))
    return opened.use(await serveFinance({ environment, home, payments }))
  }
  const short = await serve('short', known.appended)
  const long = await serve('long', known.appended * known.factor)
  const disposables = opened.move()
  return {
    short,
    long,
    longUrl: openedDatabase(adminUrl, known.long).adminUrl,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

function serverOf(database: TestDatabase) {
  return { createDatabase: () => Promise.resolve(database), [Symbol.asyncDispose]: () => Promise.resolve() }
}

/** On a disk: a million payments take about 7 GB. */
async function openFolder(given: string | undefined, opened: AsyncDisposableStack): Promise<string> {
  if (given === undefined) {
    const { path, remove } = await makeTemporaryDirectory(tmpdir())
    opened.defer(remove)
    return path
  }
  const folder = resolve(given)
  // Postgres may run as another user, which has to pass.
  await mkdir(folder, { recursive: true, mode: 0o711 })
  return folder
}

async function readSeeded(file: string): Promise<Seeded | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : seeded.parse(JSON.parse(text))
}

async function seedBoth(adminUrl: string, home: Home, { appended, factor }: LedgersOptions): Promise<Seeded> {
  const template = await createDatabaseTemplate({ adminUrl, migrate })
  const { keypair } = await home.keypair('token-mint')
  const mint = assertPresent(readAddress(keypair.publicKey.toBase58()), 'a mint')
  const short = await cloneTemplate(template)
  await timed(`${appended} payments appended`, async () => {
    await seedLedger(short, { mint, payments: appended })
    await followToTheHead(short.adminUrl)
    await vacuum(short.adminUrl)
  })
  const long = await cloneTemplate(template)
  let shownPercent = 0
  const onProgress = (done: number, total: number): void => {
    const percent = Math.floor((10 * done) / total) * 10
    if (percent > shownPercent) say(`       ${percent} % of ${total} events written`)
    shownPercent = percent
  }
  await timed(`multiplied to ${appended * factor} payments`, async () => {
    await multiplyLedger({ fromUrl: short.adminUrl, toUrl: long.adminUrl, factor, onProgress })
    await vacuum(long.adminUrl)
  })
  await dropDatabaseTemplate(template)
  return { short: short.name, long: long.name, appended, factor }
}

/** Reports and open work, which follow the log in the background. */
async function followToTheHead(adminUrl: string): Promise<void> {
  await withAdminSession(adminUrl, async (session) => {
    for (const call of ['reports.roll_up(5000)', 'work.follow(5000)'])
      while (Number((await session.query<{ n: string }>(`select ${call} as n`)).rows[0]?.n) > 0) continue
  })
}

/** As autovacuum would have done over the months of such a ledger. */
async function vacuum(adminUrl: string): Promise<void> {
  await withAdminSession(adminUrl, (session) => session.query('vacuum (analyze)'))
}

async function timed(what: string, run: () => Promise<void>): Promise<void> {
  const startedAtMs = systemClock.monotonicMs()
  await run()
  say(`${what} in ${Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)} s`)
}
