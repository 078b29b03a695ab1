import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '@tollbook/core/clock'
import { findTools } from '../../src/backup/postgresTools.ts'
import { migrate } from '../../src/store/migrate.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createDatabaseTemplate } from '../support/databaseTemplate.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { cloneTemplate } from '../support/testDatabase.ts'
import { type Load, startLoad } from './failover/load.ts'
import { ask } from './failover/replicas.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { startDebianCluster } from './restore/debianCluster.ts'
import { replayLedger, sizeOfCheckpoint } from './restore/replay.ts'
import { type Ran, runTollbook, startTollbook } from './restore/tollbook.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * Backups are made while callers pay, the cluster is destroyed, and what was restored has every acknowledged payment, passes
 * doctor and audit, has the replay of the destroyed ledger up to the kept checkpoint, and sells again. An older backup is refused: by the drill, by a running instance, and at start.
 */

const command = proofCommand(
  'restore',
  'Backup under paid load, cluster destroyed, restored, audited, sold again. About 2 minutes.',
)
  .option('--callers <n>', 'callers who buy without a pause', wholeNumber, 4)
  .option('--seconds <n>', 'load between two steps', wholeNumber, 4)
const { callers, seconds } = command.parse().opts<{ callers: number; seconds: number }>()

const programs = ['initdb', 'postgres', 'pg_basebackup', 'pg_verifybackup', 'pg_receivewal', 'pg_archivecleanup']
const tools = await findTools({ toolsFolder: undefined, programs })
if (tools === undefined) couldNotRun(`this machine lacks ${programs.join(', ')}; Debian: postgresql`)
else await prove(tools.folder)

async function prove(folder: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const cluster = opened.use(await startDebianCluster(folder, directory.path))
  const template = await createDatabaseTemplate({ adminUrl: cluster.adminUrl, migrate })
  const {
    database,
    payer,
    env,
    directory: home,
  } = opened.use(
    await openEnvironment({
      startServer: () =>
        Promise.resolve({
          createDatabase: () => cloneTemplate(template),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        }),
    }),
  )
  const runsFile = join(home, 'runs')
  await writeFile(runsFile, '')
  const checkpointFiles = [join(home, 'checkpoint-1'), join(home, 'checkpoint-2')]
  const start = (file: string) => spawnServer({ env: { ...env, CHECKPOINT_FILE: file }, runsFile })
  const servers = await Promise.all(checkpointFiles.map(start))
  for (const server of servers) opened.defer(() => server.stop())
  const load = startLoad({ payer, baseUrls: servers.map(({ baseUrl }) => baseUrl), callers, name: 'r' })
  opened.defer(() => load.stop())
  const operator = { ...env, ARTIFACT_DIR: home, BACKUP_DATABASE_URL: cluster.adminUrl }
  const [oldFolder, newFolder] = [join(home, 'old'), join(home, 'new')]
  const compared = checkpointFiles.flatMap((file) => ['--checkpoint', file])
  const drill = ['restore', '--drill', ...compared]
  const wrong: string[] = []
  const expectExit = (what: string, { exitCode, output }: Ran, expected: number): void => {
    say(`${what}: exit code ${exitCode}, ${lastLine(output)}`)
    if (exitCode === expected) return
    wrong.push(`${what} ended with ${exitCode} and not ${expected}`)
    process.stdout.write(output)
  }

  await awaitPurchases(load, callers)
  expectExit(
    'backup under load, without received log',
    await runTollbook(['backup'], { ...operator, BACKUP_DIR: oldFolder }),
    0,
  )
  const receiver = startTollbook(['backup', 'wal'], { ...operator, BACKUP_DIR: newFolder })
  // A commit is acknowledged when the received log has it: nothing can be lost.
  await ask(cluster.adminUrl, "alter system set synchronous_standby_names = 'tollbook_wal'")
  await ask(cluster.adminUrl, 'select pg_reload_conf()')
  await awaitThat('the receiver is synchronous', () => hasReceiver(cluster.adminUrl))
  expectExit(
    'backup under load, with received log',
    await runTollbook(['backup'], { ...operator, BACKUP_DIR: newFolder }),
    0,
  )
  await systemClock.sleep(seconds * 1000)
  const behind = await runTollbook(drill, { ...operator, BACKUP_DIR: oldFolder })
  expectExit('drill of the older backup under load', behind, 3)
  if (!behind.output.includes('older than the checkpoint')) wrong.push('the drill of the older backup does not say so')
  expectExit(
    'drill of the newer backup under load',
    await runTollbook(drill, { ...operator, BACKUP_DIR: newFolder }),
    0,
  )

  const upto = await sizeOfCheckpoint(checkpointFiles[0] ?? '')
  const replayOf = (name: string) =>
    replayLedger({ databaseUrl: database.adminUrl, upto, exportFile: join(home, `${name}.jsonl`) })
  const before = await replayOf('before')
  const answeredBefore = countAnswered(load)
  await cluster.destroy()
  say(`the cluster is destroyed after ${answeredBefore} answers`)
  await receiver.stop()
  const intoCluster = ['restore', '--into', cluster.dataDirectory]
  expectExit('restore', await runTollbook(intoCluster, { ...operator, BACKUP_DIR: newFolder }), 0)
  await cluster.start()
  await ask(cluster.adminUrl, "alter system set synchronous_standby_names = ''")
  await ask(cluster.adminUrl, 'select pg_reload_conf()')
  await awaitThat('the service sells again', () => isReady(servers))
  await awaitPurchases(load, countAnswered(load) + callers)
  say(
    `the service sells again: ${countAnswered(load)} answers, longest gap ${(load.longestGapMs() / 1000).toFixed(1)} s`,
  )
  expectExit('doctor', await runTollbook(['doctor'], operator), 0)
  expectExit('audit', await runTollbook(['audit', '--database', database.adminUrl, ...compared], operator), 0)
  const after = await replayOf('after')
  say(
    `replayed to position ${after.treeSize}: ${after.payments} payments, ${after.balances.length} accounts, root ${after.root}`,
  )
  if (before.treeSize !== upto || !isDeepStrictEqual(after, before))
    wrong.push(`the restored ledger replays to ${JSON.stringify(after)}, the source to ${JSON.stringify(before)}`)
  await load.stop()
  wrong.push(...(await judgePurchases(load, { servers, adminUrl: database.adminUrl })))

  await cluster.destroy()
  expectExit('restore of the older backup', await runTollbook(intoCluster, { ...operator, BACKUP_DIR: oldFolder }), 0)
  await cluster.start()
  await awaitThat('the running instances close', async () => !(await isReady(servers)))
  const restarted = await runTollbook(['serve'], { ...env, CHECKPOINT_FILE: checkpointFiles[0] ?? '' })
  expectExit('start on the older backup', restarted, 1)
  if (!/Restore a newer backup/.test(restarted.output)) wrong.push('the refusal at start does not say what to do')
  concludeProof({ holds: wrong.length === 0, lines: [`${load.purchases.length} payments`, ...wrong] })
}

function lastLine(output: string): string {
  return (
    output
      .trim()
      .split('\n')
      .findLast((line) => line !== '') ?? ''
  )
}

function countAnswered({ purchases }: Load): number {
  return purchases.filter(({ isAnswered }) => isAnswered).length
}

async function awaitPurchases(load: Load, count: number): Promise<void> {
  await awaitThat(`${count} payments are answered`, () => countAnswered(load) >= count)
}

async function hasReceiver(adminUrl: string): Promise<boolean> {
  const rows = await ask(adminUrl, "select from pg_stat_replication where sync_state = 'sync'")
  return rows.length > 0
}

async function isReady(servers: readonly SpawnedServer[]): Promise<boolean> {
  const answers = await Promise.all(servers.map(({ baseUrl }) => fetch(`${baseUrl}/readyz`).catch(() => undefined)))
  return answers.every((answer) => answer?.status === 200)
}

interface Judged {
  readonly servers: readonly SpawnedServer[]
  readonly adminUrl: string
}

/** Every answered payment is in the restored ledger, and none buys a second answer. */
async function judgePurchases(load: Load, { servers, adminUrl }: Judged): Promise<readonly string[]> {
  const answered = load.purchases.filter(({ isAnswered }) => isAnswered)
  for (const purchase of answered) for (const { baseUrl } of servers) await load.present(purchase, baseUrl)
  const rows = await ask<{ reference: string }>(
    adminUrl,
    "select reference from ledger.payments where state like 'fulfilled%'",
  )
  const fulfilled = new Set(rows.map(({ reference }) => reference))
  const lost = answered.filter(({ reference }) => !fulfilled.has(reference)).length
  const twice = load.purchases.filter(({ answers }) => answers.size > 1).length
  say(`${answered.length} answered, ${lost} lost, ${twice} sold twice`)
  return [
    ...(lost > 0 ? [`${lost} answered payments are not in the restored ledger`] : []),
    ...(twice > 0 ? [`${twice} payments bought two answers`] : []),
  ]
}
