import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import type { EmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { awaitThat } from '../../support/awaitThat.ts'
import { openEnvironment } from '../proofEnvironment.ts'
import { type SpawnedServer, type SpawnOptions, spawnServer } from '../spawnServer.ts'
import { type CheckpointWatch, type WatchedServer, watchCheckpoints } from './checkpoints.ts'
import { type Load, startLoad } from './load.ts'
import { openRelay, type Relay } from './relay.ts'
import { ask, type Replicas, startReplicas } from './replicas.ts'

/** Parts that a scenario acts on while callers pay. */
export interface Stage {
  readonly replicas: Replicas
  /** Leads the service to its database. */
  readonly front: Relay
  /** Leads standbys to their primary. */
  readonly back: Relay
  readonly load: Load
}

export interface Scenario {
  readonly name: string
  /** Variables of the service besides the usual. */
  readonly env?: Readonly<Record<string, string>>
  /** Before the load. */
  prepare(stage: Omit<Stage, 'load'>): Promise<void>
  /** Under load. Returns the server that is in use afterwards. */
  act(stage: Stage): Promise<EmbeddedPostgres>
  /** Whether the service is to sell again, or to be closed with a reason. */
  readonly ends: 'open' | 'closed'
}

export interface Findings {
  readonly answered: number
  readonly lost: number
  readonly twice: number
  readonly gapMs: number
  readonly problems: readonly string[]
  readonly checkpoints: Pick<CheckpointWatch, 'conflicts' | 'moves' | 'seen'>
  readonly tally: ReadonlyMap<string, number>
  readonly wrong: readonly string[]
}

export interface RunOptions {
  readonly servers: number
  readonly callers: number
  readonly seconds: number
}

export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Findings> {
  await using opened = new AsyncDisposableStack()
  const replicas = await startReplicas()
  const environment = opened.use(
    await openEnvironment({
      startServer: () =>
        Promise.resolve({
          createDatabase: replicas.createDatabase,
          [Symbol.asyncDispose]: () => replicas[Symbol.asyncDispose](),
        }),
    }),
  )
  const front = opened.use(await openRelay(replicas.primary.port))
  const back = opened.use(await openRelay(replicas.primary.port))
  await scenario.prepare({ replicas, front, back })

  const runsFile = `${environment.directory}/runs`
  await writeFile(runsFile, '')
  const env = { ...environment.env, ...scenario.env, DATABASE_URL: urlAt(environment.database.serviceUrl, front.port) }
  const servers = await Promise.all(
    Array.from({ length: options.servers }, async (_, index) => {
      const file = `${environment.directory}/checkpoint${index}`
      const server = await spawnServer({ env: { ...env, CHECKPOINT_FILE: file }, runsFile })
      opened.defer(() => server.stop())
      return { ...server, file }
    }),
  )
  const checkpoints = watchCheckpoints(servers)
  opened.defer(() => checkpoints.stop())
  const baseUrls = servers.map(({ baseUrl }) => baseUrl)
  const load = startLoad({
    payer: environment.payer,
    baseUrls,
    callers: options.callers,
    name: scenario.name[0] ?? 'x',
  })
  await systemClock.sleep(options.seconds * 1000)

  const inUse = await scenario.act({ replicas, front, back, load })
  const wrong: string[] = []
  await awaitThat(`the service is ${scenario.ends}`, () => endsAs(servers, scenario.ends))
  const before = countAnswered(load)
  await systemClock.sleep(options.seconds * 1000)
  if (scenario.ends === 'open' && countAnswered(load) === before) wrong.push('nothing was sold afterwards')
  if (scenario.ends === 'closed' && countAnswered(load) !== before) wrong.push('something was sold although closed')
  await load.stop()
  if (scenario.ends === 'closed') wrong.push(...(await tryRestart(servers[0], { env, runsFile })))
  // Every proof that was answered, once more at every server.
  for (const purchase of load.purchases)
    if (purchase.isAnswered) await Promise.all(baseUrls.map((baseUrl) => load.present(purchase, baseUrl)))

  const fulfilled = await readFulfilled(urlAt(environment.database.adminUrl, inUse.port))
  const lost = load.purchases.filter(({ isAnswered, reference }) => isAnswered && !fulfilled.has(reference))
  const twice = load.purchases.filter(({ answers }) => answers.size > 1)
  if (scenario.ends === 'open' && lost.length > 0) wrong.push(`${lost.length} answered payments are not in the ledger`)
  if (twice.length > 0) wrong.push(`${twice.length} payments bought two answers`)
  if (checkpoints.moves() > 0) wrong.push(`a CHECKPOINT_FILE moved back ${checkpoints.moves()} times`)
  if (checkpoints.conflicts().length > 0) wrong.push(`two roots were signed for ${checkpoints.conflicts().join(', ')}`)
  return {
    answered: countAnswered(load),
    lost: lost.length,
    twice: twice.length,
    gapMs: load.longestGapMs(),
    problems: [...new Set((await Promise.all(servers.map(findProblems))).flat())],
    checkpoints,
    tally: load.tally,
    wrong,
  }
}

/** A supervisor that restarts a closed instance must not open it. */
async function tryRestart(server: WatchedServer | undefined, options: SpawnOptions): Promise<readonly string[]> {
  if (server === undefined) return []
  const env = { ...options.env, CHECKPOINT_FILE: server.file }
  const restarted = await spawnServer({ ...options, env, stderr: 'ignore' }).catch(() => undefined)
  await restarted?.stop()
  return restarted === undefined ? [] : ['a restarted instance opened although its ledger is lost']
}

function countAnswered({ purchases }: Load): number {
  return purchases.filter(({ isAnswered }) => isAnswered).length
}

function urlAt(url: string, port: number): string {
  const moved = new URL(url)
  moved.port = String(port)
  return moved.href
}

async function endsAs(servers: readonly SpawnedServer[], ends: Scenario['ends']): Promise<boolean> {
  const statuses = await Promise.all(
    servers.map(async ({ baseUrl }) => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status),
  )
  const problems = await Promise.all(servers.map(findProblems))
  if (ends === 'open') return statuses.every((status) => status === 200)
  return (
    statuses.every((status) => status === 503) && problems.every((found) => found.some((one) => /history/.test(one)))
  )
}

const healthShape = z.object({
  data: z.object({ checks: z.record(z.string(), z.object({ problem: z.string().optional() })) }),
})

async function findProblems({ baseUrl }: SpawnedServer): Promise<readonly string[]> {
  const response = await fetch(`${baseUrl}/api/health`).catch(() => undefined)
  if (response === undefined) return ['no answer']
  const { checks } = healthShape.parse(await response.json()).data
  return Object.entries(checks).flatMap(([name, { problem }]) => (problem === undefined ? [] : [`${name}: ${problem}`]))
}

/** References of the payments whose answers are in the ledger. */
async function readFulfilled(url: string): Promise<ReadonlySet<string>> {
  const rows = await ask<{ reference: string }>(
    url,
    "select reference from ledger.payments where state like 'fulfilled%'",
  )
  return new Set(rows.map(({ reference }) => reference))
}
