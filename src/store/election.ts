import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { Database } from './database.ts'

/**
 * The right to do a piece of work for a limited time. The database refuses a write that states the epoch of a lease
 * that another instance has taken.
 */
export interface Lease {
  readonly name: string
  readonly epoch: number
}

export interface Election {
  /** Runs the work under the lease `name`. Undefined if another instance holds the lease. */
  run<T>(name: string, work: (lease: Lease) => Promise<T>): Promise<T | undefined>
}

export interface ElectionDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  /** Name of this process in the table of leases, for operators who read the table. */
  readonly holder: string
  readonly leaseMs?: number
}

// Duration of a lease. After this time another instance replaces a leader that was killed or paused.
const standardLeaseMs = 10_000
const renewalsPerLease = 3

/**
 * Creates the election. A lease is a row and not a session lock: a pooler may give each statement another session, and
 * a paused process keeps its session but not its lease.
 */
export function createElection(deps: ElectionDeps): Election {
  const { leaseMs = standardLeaseMs } = deps
  assert(leaseMs >= renewalsPerLease, 'a lease lasts long enough to be renewed')
  return {
    async run(name, work) {
      assert(name !== '', 'elected work has a name')
      const epoch = await takeLease(deps, name, leaseMs)
      if (epoch === undefined) return undefined
      await using held = new AsyncDisposableStack()
      held.defer(() => endLease(deps, { name, epoch }))
      held.defer(renewing(deps, { name, epoch }, leaseMs))
      return await work({ name, epoch })
    },
  }
}

async function takeLease({ database, holder }: ElectionDeps, name: string, leaseMs: number) {
  const { rows } = await sql<{ epoch: number | null }>`
    select work.take_lease(${name}, ${holder}, ${leaseMs}) as epoch`.execute(database)
  return rows[0]?.epoch ?? undefined
}

async function renewLease({ database }: ElectionDeps, { name, epoch }: Lease): Promise<boolean> {
  const { rows } = await sql<{ renewed: boolean }>`select work.renew_lease(${name}, ${epoch}) as renewed`.execute(
    database,
  )
  return rows[0]?.renewed === true
}

/**
 * Renews the lease until the returned function is called. A failed renewal ends the renewals, so that the lease expires
 * and another instance can take the work.
 */
function renewing(deps: ElectionDeps, lease: Lease, leaseMs: number): () => Promise<void> {
  const stopping = new AbortController()
  const renewal = (async () => {
    while (!stopping.signal.aborted) {
      await deps.clock.sleep(leaseMs / renewalsPerLease, stopping.signal)
      if (!(await renewLease(deps, lease))) return
    }
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted)
      deps.log.warn({ event: 'lease_not_renewed', lease: lease.name, error: describeError(error) })
  })
  return () => {
    stopping.abort()
    return renewal
  }
}

/** Ends the lease, so that the next instance need not wait until it expires. A failure costs only this wait. */
async function endLease({ database, log }: ElectionDeps, { name, epoch }: Lease): Promise<void> {
  await sql`select work.end_lease(${name}, ${epoch})`.execute(database).catch((error: unknown) => {
    log.debug({ event: 'lease_not_ended', lease: name, error: describeError(error) })
  })
}
