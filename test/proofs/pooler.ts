import { writeFile } from 'node:fs/promises'
import { systemClock } from '@tollbook/core/clock'
import { startLoad } from './failover/load.ts'
import { ask } from './failover/replicas.ts'
import { findPgBouncer, startPgBouncer } from './pooler/pgBouncer.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { spawnServer } from './spawnServer.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The service behind PgBouncer in transaction mode, where each database transaction may run in another session: paid
 * requests, elected jobs and the seal depend on nothing that belongs to a session.
 */

const command = proofCommand('pooler', 'Sells through PgBouncer in transaction mode. About one minute.')
  .option('--servers <n>', 'server processes', wholeNumber, 2)
  .option('--callers <n>', 'callers who buy without a pause', wholeNumber, 4)
  .option('--seconds <n>', 'load', wholeNumber, 10)
const {
  servers: serverCount,
  callers,
  seconds,
} = command.parse().opts<Record<'servers' | 'callers' | 'seconds', number>>()
// Less than one instance opens without a pooler.
const sessionsMax = 6

if (findPgBouncer() === undefined) couldNotRun('there is no pgbouncer (apt-get install pgbouncer)')
else await prove()

async function prove(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const environment = opened.use(await openEnvironment())
  const { adminUrl, serviceUrl } = environment.database
  const { username } = new URL(serviceUrl)
  // PgBouncer drops both from the connection; without them the service stays closed and names them.
  for (const setting of ["lock_timeout = '5s'", "statement_timeout = '15s'"])
    await ask(adminUrl, `alter role ${username} set ${setting}`)
  const pooler = opened.use(
    await startPgBouncer({ databaseUrl: serviceUrl, directory: environment.directory, sessionsMax }),
  )
  const runsFile = `${environment.directory}/runs`
  await writeFile(runsFile, '')
  const env = { ...environment.env, DATABASE_URL: pooler.databaseUrl }
  const servers = await Promise.all(
    Array.from({ length: serverCount }, async () => {
      const server = await spawnServer({ env, runsFile })
      opened.defer(() => server.stop())
      return server
    }),
  )
  const baseUrls = servers.map(({ baseUrl }) => baseUrl)
  say(`${serverCount} servers on ${sessionsMax} sessions`)
  const load = startLoad({ payer: environment.payer, baseUrls, callers, name: 'P' })
  await systemClock.sleep(seconds * 1000)
  await load.stop()

  const answered = load.purchases.filter(({ isAnswered }) => isAnswered)
  const wrong = load.purchases
    .filter(({ answers }) => answers.size > 1)
    .map(({ symbol }) => `${symbol} bought two answers`)
  if (answered.length === 0) wrong.push('nothing was sold')
  const refused = [...load.tally].filter(([answer]) => answer.startsWith('5'))
  for (const [answer, count] of refused) wrong.push(`${count} answers were ${answer}`)
  const [found] = await ask<{ sessions: number; epochs: number; unsealed: number }>(
    adminUrl,
    `select (select count(*)::int from pg_stat_activity where usename = '${username}') as sessions,
      (select count(*)::int from work.leases where epoch > 1) as epochs,
      (select h.seq - coalesce(max(c.size), 0) from ledger.head h left join ledger.checkpoints c on true group by h.seq)::int as unsealed`,
  )
  if (found === undefined || found.sessions > sessionsMax) wrong.push(`${found?.sessions} sessions`)
  if (found === undefined || found.epochs === 0) wrong.push('no elected job has run')
  const tally = [...load.tally].map(([answer, count]) => `${answer}: ${count}`).join(', ')
  concludeProof({
    holds: wrong.length === 0,
    lines: [
      `${answered.length} answered over ${found?.sessions} sessions; ${found?.epochs} leases taken again, ${found?.unsealed} events to be sealed`,
      `answers: ${tally}`,
      ...wrong,
    ],
  })
}
