import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@tollbook/core/clock'
import { checkSchemaVersion } from '@tollbook/ledger/schemaVersion'
import pg from 'pg'
import { migrate, schemaSources } from '../../src/store/migrate.ts'
import { createDatabaseTemplate } from '../support/databaseTemplate.ts'
import { cloneTemplate } from '../support/testDatabase.ts'
import { present } from './present.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { readProofLedger } from './proofLedger.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { checkOutRelease } from './upgrade/earlierRelease.ts'
import { startPaidLoad } from './upgrade/paidLoad.ts'
import { previousCommit } from './upgrade/previousRelease.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * An upgrade under paid load: two instances of the previous release run on their schema, the schema is migrated to this
 * release's, and the instances are replaced one by one. No 5xx but documented ones for under 2 s, nothing lost, nothing
 * twice. The previous release is the last one that CHANGELOG.md names.
 */

interface Options {
  readonly from?: string
  readonly seconds: number
  readonly callers: number
}

const command = proofCommand(
  'upgrade',
  'The previous release runs on the new schema, and its replacement loses nothing.',
)
  .option('--from <commit>', 'another commit or tag in place of the previous release')
  .option('--seconds <n>', 'duration of each phase under load', wholeNumber, 10)
  .option('--callers <n>', 'callers who pay at once', wholeNumber, 4)
const { seconds, callers, ...given } = command.parse().opts<Options>()
const from = given.from ?? (await previousCommit())
if (from === undefined) {
  couldNotRun('CHANGELOG.md names no release before this one')
  process.exit()
}
const interruptionMaxMs = 2_000

await using opened = new AsyncDisposableStack()
const environment = opened.use(await openEnvironment())
const previous = await checkOutRelease(from)
opened.defer(async () => void (await previous.remove()))
const { adminUrl } = environment.database
const template = await createDatabaseTemplate({ adminUrl, migrate: (options) => previous.migrate(options) })
const database = await cloneTemplate(template)
const runsFile = `${environment.directory}/runs`
await writeFile(runsFile, '')
const env = { ...environment.env, DATABASE_URL: database.serviceUrl }
const wrong: string[] = []

async function fitsThisRelease(): Promise<boolean> {
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: 1 })
  const { fits } = await checkSchemaVersion((text) => pool.query(text), schemaSources)
  await pool.end()
  return fits
}

/** A new program on the old schema refuses, and names the command. */
async function refusesOldSchema(): Promise<void> {
  if (await fitsThisRelease()) return say('both releases have the same schema')
  const entry = fileURLToPath(new URL('serverProcess.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, runsFile], { env, stdio: ['pipe', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  const [code] = await once(child, 'exit')
  const isRefused = code !== 0 && said.includes('run `tollbook migrate`')
  if (!isRefused) wrong.push(`this release on the old schema ended with ${code}: ${said.slice(-300)}`)
  say(`this release on the old schema: exit ${code}, ${isRefused ? 'names `tollbook migrate`' : 'names no command'}`)
}

const rotation: SpawnedServer[] = []
const readiness = { asked: 0, failed: 0 }
const following = new AbortController()

/** `/readyz` of each instance in rotation, as a load balancer asks it. */
async function followReadiness(): Promise<void> {
  while (!following.signal.aborted) {
    for (const { baseUrl } of rotation) {
      const [status, text] = await fetch(`${baseUrl}/readyz`).then(
        async (response) => [response.status, await response.text()] as const,
        (error: unknown) => [0, String(error)] as const,
      )
      readiness.asked++
      if (status === 200 || !rotation.some((server) => server.baseUrl === baseUrl)) continue
      readiness.failed++
      say(`/readyz of ${baseUrl}: ${status} ${text}`)
    }
    await systemClock.sleep(200)
  }
}

async function replace(): Promise<void> {
  for (const old of rotation.slice()) {
    rotation.push(await spawnServer({ env, runsFile }))
    // The load balancer takes the instance out of rotation, then it gets SIGTERM; here the end of its input.
    rotation.splice(rotation.indexOf(old), 1)
    await old.stop()
    say('one instance replaced')
  }
}

await refusesOldSchema()
for (let instance = 0; instance < 2; instance++)
  rotation.push(await spawnServer({ env, runsFile, entry: previous.entry }))
const load = startPaidLoad({
  payer: environment.payer,
  rotation: () => rotation.map(({ baseUrl }) => baseUrl),
  callers,
})
const followed = followReadiness()
const phase = async (name: string, work: () => Promise<unknown>): Promise<void> => {
  load.begin(name)
  await work()
  await systemClock.sleep(seconds * 1000)
  say(`${name}: done`)
}
await phase(`${from} on its schema`, () => Promise.resolve())
await phase(`${from} while and after the schema is migrated`, () => migrate({ databaseUrl: database.ownerUrl }))
await phase('instances replaced by this release', replace)
const purchases = await load.stop()
following.abort()
await followed

for (const { symbol, proof, answer } of purchases) {
  if (answer.status !== 200) wrong.push(`${symbol}: ended with ${answer.status} ${answer.code} ${answer.reason}`)
  const [server] = rotation
  const again = await present({ baseUrl: server?.baseUrl ?? '', wallet: environment.payer.address, symbol, proof })
  if (again.reason !== 'already_used') wrong.push(`${symbol}: asked again, got ${again.status} ${again.code}`)
}
for (const server of rotation) await server.stop()
const runs = (await readFile(runsFile, 'utf8')).split('\n').filter((line) => line !== '').length
const ledger = await readProofLedger(database.adminUrl)
if (ledger.fulfilled !== purchases.length || ledger.payments !== purchases.length || runs !== purchases.length)
  wrong.push(
    `${purchases.length} payments, ${ledger.payments} fulfilled, ${ledger.fulfilled} events, ${runs} handler runs`,
  )
if (ledger.unbalanced !== 0 || ledger.gaps !== 0) wrong.push(`${ledger.unbalanced} unbalanced, ${ledger.gaps} gaps`)
if (readiness.failed > 0) wrong.push(`/readyz failed ${readiness.failed} of ${readiness.asked} times in rotation`)

const rows: string[] = []
for (const [name, { answers, documented, undocumented, longestMs }] of load.figures()) {
  rows.push(`${name} | ${answers} | ${documented} | ${undocumented.length} | ${Math.round(longestMs)} ms`)
  wrong.push(...undocumented.map((found) => `${name}: ${found}`))
  if (longestMs >= interruptionMaxMs) wrong.push(`${name}: a caller waited ${Math.round(longestMs)} ms behind a 5xx`)
}
concludeProof({
  holds: wrong.length === 0 && purchases.length > 0,
  lines: [
    'phase | paid answers | documented 503 | other 5xx or broken | longest wait behind a 5xx',
    ...rows.slice(1),
    `${purchases.length} payments, ${ledger.fulfilled} RequestFulfilled, ${runs} handler runs; each proof presented again: already used`,
    `/readyz in rotation: ${readiness.asked} × asked, ${readiness.failed} × not ready`,
    ...wrong.slice(0, 20),
  ],
})
