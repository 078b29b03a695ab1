import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Option } from 'commander'
import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { type Cluster, openCluster } from './patroni/cluster.ts'
import { type Instances, openInstances } from './patroni/environment.ts'
import { type ClusterEvent, clusterEvents } from './patroni/events.ts'
import { type Acknowledged, startPayers } from './patroni/payers.ts'
import { findPrograms } from './patroni/programs.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The deployment of deploy/patroni loses no acknowledged payment and sells none twice, whatever happens to a node:
 * three nodes of Postgres under Patroni, three members of etcd, HAProxy, and two instances of the service, from the
 * files that are shipped. The asynchronous run is the counter-example; its losses do not break the proof.
 *
 * Everything runs in separate namespaces, with addresses of loopback as machines: nothing outlives the proof.
 */

const command = proofCommand('patroni', 'The Patroni deployment loses no acknowledged payment and sells none twice.')
  .option('--only <text>', 'run only the events whose name contains the text', '')
  .option('--payers <n>', 'payers at once', wholeNumber, 4)
  .addOption(new Option('--inside', 'this process is in the namespaces').default(false).hideHelp())
const values = command.parse().opts<{ only: string; payers: number; inside: boolean }>()
// Answers before an event, and after it.
const answersAround = 20
const steadyMs = 3_000

const programs = findPrograms()
const events = clusterEvents.filter(({ name }) => name.includes(values.only))
if (events.length === 0) command.error(`no event contains '${values.only}'`)
if (!programs.found)
  couldNotRun(`this machine lacks ${programs.missing}; Debian: patroni etcd-server haproxy postgresql`)
else if (values.inside) await prove(programs.postgresDirectory)
else process.exitCode = await runInNamespaces()

/** The first process of the namespace is a shell, which collects processes whose parents have ended. */
async function runInNamespaces(): Promise<number> {
  const script = 'ip link set lo up && "$@" & wait $!'
  const entry = [process.execPath, fileURLToPath(import.meta.url), '--inside', ...process.argv.slice(2)]
  const namespaces = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...namespaces, '--', 'sh', '-c', script, 'sh', ...entry], {
    stdio: 'inherit',
  })
  const [code]: unknown[] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}

interface Row {
  readonly event: ClusterEvent
  readonly acknowledged: number
  readonly lost: number
  readonly double: number
  readonly resold: number
  readonly refused: readonly string[]
  readonly gapMs: number
}

async function prove(postgresDirectory: string): Promise<void> {
  const rows: Row[] = []
  for (const asynchronous of [false, true]) {
    const chosen = events.filter((event) => (event.asynchronous ?? false) === asynchronous)
    if (chosen.length === 0) continue
    say(`starting three nodes, three etcd, HAProxy and two instances, ${asynchronous ? 'asynchronous' : 'synchronous'}`)
    await using cluster = await openCluster(postgresDirectory)
    if (asynchronous) await cluster.setSynchronous(false)
    await cluster.awaitHealthy({ synchronous: !asynchronous })
    await using instances = await openInstances(cluster, !asynchronous)
    for (const event of chosen) {
      rows.push(await run(event, cluster, instances))
      if (!asynchronous) await cluster.awaitHealthy()
    }
  }
  conclude(rows)
}

async function run(event: ClusterEvent, cluster: Cluster, instances: Instances): Promise<Row> {
  const { payer, baseUrl } = instances
  const payers = startPayers({ payer, baseUrl, count: values.payers })
  await payers.awaitAnswers(answersAround)
  say(`${event.name}: begins after ${payers.acknowledged.length} answers`)
  await event.happen(cluster)
  await payers.awaitAnswers(answersAround)
  await systemClock.sleep(steadyMs)
  await payers.stop()
  await event.recover?.(cluster)
  const ledger = await readLedger(cluster)
  const lost = payers.acknowledged.filter(({ signature }) => !ledger.fulfilled.has(signature))
  for (const payment of againAfter(payers.acknowledged, lost)) await payers.presentAgain(payment)
  const row = {
    event,
    acknowledged: payers.acknowledged.length,
    lost: lost.length,
    double: ledger.double,
    resold: payers.resold(),
    refused: payers.refused,
    gapMs: payers.longestGapMs(),
  }
  say(lineOf(row))
  return row
}

/** Every third payment, and each that the ledger has lost. */
function againAfter(all: readonly Acknowledged[], lost: readonly Acknowledged[]): ReadonlySet<Acknowledged> {
  return new Set([...all.filter((_, index) => index % 3 === 0), ...lost])
}

interface LedgerState {
  /** Signatures of payments that were delivered. */
  readonly fulfilled: ReadonlySet<string>
  /** Payments that were delivered more than once. */
  readonly double: number
}

async function readLedger(cluster: Cluster): Promise<LedgerState> {
  const client = new pg.Client({ connectionString: cluster.databaseUrl('tollbook_report') })
  await client.connect()
  try {
    const { rows } = await client.query<{ reference: string; times: number }>(`
      select payment.reference, count(*)::int as times
      from ledger.payments payment join ledger.events event on event.stream = payment.stream
      where event.kind = 'RequestFulfilled'
      group by payment.reference`)
    const fulfilled = new Set(rows.map(({ reference }) => reference.split(/[:/]/).at(-1) ?? ''))
    return { fulfilled, double: rows.filter(({ times }) => times > 1).length }
  } finally {
    await client.end()
  }
}

function lineOf({ event, acknowledged, lost, double, resold, refused, gapMs }: Row): string {
  const gap = `${(gapMs / 1000).toFixed(1)} s`
  const others = refused.length === 0 ? '' : `, unanswered: ${[...new Set(refused)].join(', ')} (${refused.length})`
  return `${event.name}: ${acknowledged} acknowledged, ${lost}/${double}/${resold} lost/double/resold, longest gap ${gap}${others}`
}

function conclude(rows: readonly Row[]): void {
  const table = [
    '| event | acknowledged | lost / double / resold | unanswered | longest gap in paid answers |',
    '|---|---|---|---|---|',
    ...rows.map(({ event, acknowledged, lost, double, resold, refused, gapMs }) => {
      const gap = `${(gapMs / 1000).toFixed(1)} s`
      return `| ${event.name} | ${acknowledged} | ${lost} / ${double} / ${resold} | ${refused.length} | ${gap} |`
    }),
  ]
  const judged = rows.filter(({ event }) => event.asynchronous !== true)
  const holds = judged.every(
    ({ acknowledged, lost, double, resold }) => acknowledged >= answersAround && lost + double + resold === 0,
  )
  concludeProof({ holds, lines: table })
}
