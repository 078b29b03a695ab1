import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { awaitThat } from '../support/awaitThat.ts'
import type { TestDatabase } from '../support/testDatabase.ts'
import { claimOf, fulfilmentOf, sampleSettlement } from './samplePayment.ts'

export interface KillOptions {
  readonly database: TestDatabase
  /** The postmaster's pid, now. */
  readonly pid: () => number
  readonly kills: number
  readonly callers: number
  readonly msBetweenKills: number
  readonly progress: (line: string) => void
}

export interface KillFindings {
  readonly acknowledged: number
  /** Callers who were answered with an unknown outcome. */
  readonly unknown: number
  /** Callers who got a conflict although no other caller was first: they would be told to pay again. */
  readonly misled: number
  /** Acknowledged appends that are not in the ledger, or are there more than once. */
  readonly lost: number
  readonly gaps: number
  readonly unbalanced: number
}

const acknowledgedPerKillMin = 60

/** Claims and fulfils without pause while the postmaster is killed again and again, then compares with the ledger. */
export async function killUnderLoad(options: KillOptions): Promise<KillFindings> {
  const { serviceUrl } = options.database
  const ledger = await openLedger({
    databaseUrl: serviceUrl,
    applicationName: 'load',
    clock: systemClock,
    log: silentLog,
  })
  const load: Load = { ledger, acknowledged: new Map(), unknown: 0, misled: 0, isOver: false }
  const callers = Array.from({ length: options.callers }, () => claimWithoutPause(load))
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      // By count and not by time alone, because a busy machine may serve few callers between two kills.
      await awaitThat('callers are served', () => load.acknowledged.size >= kill * acknowledgedPerKillMin)
      await killPostmaster(options)
      options.progress(`kill ${kill} of ${options.kills}: ${load.acknowledged.size} payments acknowledged so far`)
    }
  } finally {
    load.isOver = true
    await Promise.all(callers)
    await ledger.close()
  }
  const { acknowledged, unknown, misled } = load
  return { acknowledged: acknowledged.size, unknown, misled, ...(await compare(options.database, acknowledged)) }
}

interface Load {
  readonly ledger: Awaited<ReturnType<typeof openLedger>>
  /** Reference to the number of events that were acknowledged. */
  readonly acknowledged: Map<string, number>
  unknown: number
  misled: number
  isOver: boolean
}

async function claimWithoutPause(load: Load): Promise<void> {
  const { payments } = load.ledger
  while (!load.isOver) {
    const settlement = sampleSettlement()
    try {
      const { attemptId, change } = claimOf(settlement)
      const claimed = await payments.append(change)
      if (claimed.outcome !== 'appended') {
        load.misled++
        continue
      }
      load.acknowledged.set(settlement.reference, 3)
      const fulfilled = await payments.append(fulfilmentOf(settlement, { before: claimed.after, attemptId }))
      if (fulfilled.outcome === 'appended') load.acknowledged.set(settlement.reference, 5)
      else load.misled++
    } catch (error) {
      if (!(error instanceof Fault && error.retryable)) throw error
      load.unknown++
    }
  }
}

/**
 * From a separate process: a killer in the callers' event loop strikes only while none of them is at work, and never
 * sees an unknown outcome.
 */
async function killPostmaster({ pid, msBetweenKills }: KillOptions): Promise<void> {
  const victim = pid()
  const killer = spawn('/bin/sh', ['-c', `sleep ${msBetweenKills / 1000}; kill -9 ${victim}`])
  await once(killer, 'exit')
  await awaitThat('Postgres has been restarted', () => pid() !== victim)
}

async function compare({ adminUrl }: TestDatabase, acknowledged: ReadonlyMap<string, number>) {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const stored = await client.query<{ stream: string; events: number }>(
      "select convert_from(body, 'UTF8')::jsonb ->> 'stream' as stream, count(*)::int as events from ledger.events group by 1",
    )
    const found = new Map(stored.rows.map(({ stream, events }) => [stream, events]))
    const isLost = ([stream, events]: [string, number]): boolean => {
      const count = found.get(stream) ?? 0
      // A claim whose fulfilment was not acknowledged may still be fulfilled.
      return count < events || count > 5
    }
    const { rows } = await client.query<{ gaps: number; unbalanced: number }>(
      `select (select count(*)::int from (select seq, row_number() over (order by seq) as n from ledger.events) e where seq <> n)
         + abs((select seq from ledger.head) - (select count(*) from ledger.events))::int as gaps,
       (select count(*)::int from (select from ledger.entries group by seq, mint having sum(amount) <> 0) u)
         + (select count(*)::int from (select from ledger.accounts group by mint having sum(balance) <> 0) b) as unbalanced`,
    )
    return {
      lost: [...acknowledged].filter(isLost).length,
      gaps: Number(rows[0]?.gaps),
      unbalanced: Number(rows[0]?.unbalanced),
    }
  } finally {
    await client.end()
  }
}
