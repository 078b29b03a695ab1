import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { migrate } from '../../src/store/migrate.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createDatabaseTemplate } from '../support/databaseTemplate.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { cloneTemplate } from '../support/testDatabase.ts'
import { type Load, startLoad } from './failover/load.ts'
import { ask } from './failover/replicas.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { type DebianCluster, findPrograms, startDebianCluster } from './restore/debianCluster.ts'
import { replayLedger, sizeOfCheckpoint } from './restore/replay.ts'
import { type Ran, runTollbook } from './restore/tollbook.ts'
import { type SpawnedServer, spawnServer } from './spawnServer.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * pgBackRest makes a full and a differential backup while callers pay, and archives the write-ahead log; pg_receivewal
 * holds what is not archived yet. Drills find each backup sound, older or damaged. The cluster is destroyed, and what
 * was restored has every acknowledged payment, passes doctor and audit, has the replay of the destroyed ledger up to
 * the kept checkpoint, and sells again. Restored to an earlier time it has exactly the events until then, and is
 * refused by a running instance and at start.
 */

const command = proofCommand(
  'restore',
  'pgBackRest under paid load, cluster destroyed, restored, audited, sold again. About 3 minutes.',
)
  .option('--callers <n>', 'callers who buy without a pause', wholeNumber, 4)
  .option('--seconds <n>', 'load between two steps', wholeNumber, 4)
const { callers, seconds } = command.parse().opts<{ callers: number; seconds: number }>()

const programs = findPrograms()
if (programs === undefined)
  couldNotRun('this machine lacks pgbackrest or pg_receivewal; Debian: pgbackrest, postgresql')
else await prove(programs)

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
  // The drill reads the checkpoints as the account of Postgres.
  await chmod(home, 0o755)
  const runsFile = join(home, 'runs')
  await writeFile(runsFile, '')
  const checkpointFiles = [join(home, 'checkpoint-1'), join(home, 'checkpoint-2')]
  const start = (file: string) => spawnServer({ env: { ...env, CHECKPOINT_FILE: file }, runsFile })
  const servers = await Promise.all(checkpointFiles.map(start))
  for (const server of servers) opened.defer(() => server.stop())
  const load = startLoad({ payer, baseUrls: servers.map(({ baseUrl }) => baseUrl), callers, name: 'r' })
  opened.defer(() => load.stop())
  const wrong: string[] = []
  const expectExit = (what: string, { exitCode, output }: Ran, expected: number): void => {
    say(`${what}: exit code ${exitCode}, ${verdictOf(output)}`)
    if (exitCode === expected) return
    wrong.push(`${what} ended with ${exitCode} and not ${expected}`)
    process.stdout.write(output)
  }
  const compared = checkpointFiles.flatMap((file) => ['--checkpoint', file])
  const drill = (options: readonly string[], repository: Readonly<Record<string, string>> = cluster.repository) => {
    const words = ['drill', '--programs', folder, '--scratch', cluster.place, ...compared, ...options]
    return runTollbook(words, { ...env, ...repository }, cluster.account)
  }
  const received = ['--received-wal', cluster.receivedWal]

  await cluster.pgBackRest(['stanza-create'])
  const receiver = cluster.receiveWal()
  opened.defer(() => void receiver.kill('SIGKILL'))
  // A commit is acknowledged when the received log has it: nothing can be lost.
  await ask(cluster.adminUrl, "alter system set synchronous_standby_names = 'tollbook_wal'")
  await ask(cluster.adminUrl, 'select pg_reload_conf()')
  await awaitThat('the receiver is synchronous', () => hasReceiver(cluster.adminUrl))
  await awaitPurchases(load, callers)
  await cluster.pgBackRest(['backup', '--type=full'])
  say('a full backup under load')
  await systemClock.sleep(seconds * 1000)
  const moment = await readMoment(database.adminUrl)
  await systemClock.sleep(seconds * 1000)
  const later = await readMoment(database.adminUrl)
  await cluster.pgBackRest(['backup', '--type=diff'])
  say('a differential backup under load')
  expectExit('drill of archive and received log, under load', await drill(received), 0)
  const earlier = await drill([...received, '--target-time', moment.at.toISOString()])
  expectExit(`drill to ${moment.at.toISOString()}`, earlier, 3)
  wrong.push(...(await findUnnoticedTampering(cluster, drill)))

  const upto = await sizeOfCheckpoint(checkpointFiles[0] ?? '')
  const replayOf = (name: string) =>
    replayLedger({ databaseUrl: database.adminUrl, upto, exportFile: join(home, `${name}.jsonl`) })
  const before = await replayOf('before')
  const answeredBefore = countAnswered(load)
  await cluster.destroy()
  say(`the cluster is destroyed after ${answeredBefore} answers`)
  receiver.kill('SIGKILL')
  expectExit('drill of the archive alone, after the loss', await drill([]), 3)
  expectExit('drill of archive and received log, after the loss', await drill(received), 0)
  await cluster.pgBackRest(['restore', `--recovery-option=restore_command=${restoreCommand(cluster.receivedWal)}`])
  await cluster.start()
  await ask(cluster.adminUrl, "alter system set synchronous_standby_names = ''")
  await ask(cluster.adminUrl, 'select pg_reload_conf()')
  await awaitThat('the service sells again', () => isReady(servers))
  await awaitPurchases(load, countAnswered(load) + callers)
  say(
    `the service sells again: ${countAnswered(load)} answers, longest gap ${(load.longestGapMs() / 1000).toFixed(1)} s`,
  )
  const operator = { ...env, ARTIFACT_DIR: home }
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
  const target = [
    '--type=time',
    `--target=${moment.at.toISOString().replace('T', ' ').replace('Z', '+00')}`,
    '--target-action=promote',
  ]
  await cluster.pgBackRest(['restore', ...target])
  await cluster.start()
  const restored = await readMoment(database.adminUrl)
  say(`restored to ${moment.at.toISOString()}: event ${restored.position}, of ${moment.position} that were seen then`)
  if (restored.position < moment.position || restored.position >= later.position)
    wrong.push(`restored to event ${restored.position} and not from ${moment.position} to before ${later.position}`)
  await awaitThat('the running instances close', async () => !(await isReady(servers)))
  const restarted = await runTollbook(['serve'], { ...env, CHECKPOINT_FILE: checkpointFiles[0] ?? '' })
  expectExit('start on the older ledger', restarted, 1)
  if (!/Restore a newer backup/.test(restarted.output)) wrong.push('the refusal at start does not say what to do')
  concludeProof({ holds: wrong.length === 0, lines: [`${load.purchases.length} payments`, ...wrong] })
}

/** A time, and the last event that is acknowledged by then. */
async function readMoment(url: string): Promise<{ readonly at: Date; readonly position: number }> {
  const query = 'select clock_timestamp() as at, seq::int as position from ledger.head'
  const [moment] = await ask<{ at: Date; position: number }>(url, query)
  return assertPresent(moment, 'the ledger has a head')
}

/** As docs/operations.md has it. */
function restoreCommand(receivedWal: string): string {
  return `pgbackrest --stanza=tollbook archive-get %f "%p" || cp ${receivedWal}/%f "%p" || cp ${receivedWal}/%f.partial "%p"`
}

/** One bit of a backup, and of the archived log, is flipped in a copy of the repository. */
async function findUnnoticedTampering(
  cluster: DebianCluster,
  drill: (options: readonly string[], repository: Readonly<Record<string, string>>) => Promise<Ran>,
): Promise<readonly string[]> {
  const unnoticed: string[] = []
  for (const pattern of ['backup/tollbook/*F/pg_data/base/*/*.gz', 'archive/tollbook/*/*/*.gz']) {
    const copy = join(cluster.place, 'tampered')
    execFileSync('cp', ['-a', cluster.repository['PGBACKREST_REPO1_PATH'] ?? '', copy])
    const file = assertPresent(globSync(pattern, { cwd: copy }).toSorted().at(0), `a file is like ${pattern}`)
    const bytes = await readFile(join(copy, file))
    const middle = Math.trunc(bytes.length / 2)
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    await writeFile(join(copy, file), bytes)
    const { exitCode, output } = await drill([], { ...cluster.repository, PGBACKREST_REPO1_PATH: copy })
    say(`drill with one flipped bit in ${file}: exit code ${exitCode}`)
    if (exitCode !== 1 || !output.includes('is damaged')) unnoticed.push(`a flipped bit in ${file}: ${output}`)
    await rm(copy, { recursive: true })
  }
  return unnoticed
}

function verdictOf(output: string): string {
  return /^VERDICT: .*$/m.exec(output)?.[0] ?? lastLine(output)
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
