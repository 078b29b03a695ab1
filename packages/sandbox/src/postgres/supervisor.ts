import type { Clock } from '@tollbook/core/clock'
import { Fault, describeError } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import type { Postmaster } from './postmaster.ts'

export interface SupervisorDeps {
  readonly launch: () => Promise<Postmaster>
  /** Called if Postgres has ended and could not be restarted. */
  readonly onLost: (error: Error) => void
  readonly log: Log
  readonly clock: Clock
}

export interface Supervisor {
  readonly pid: () => number
  readonly stop: () => Promise<void>
  /** Sends SIGKILL, without a restart. */
  readonly kill: () => Promise<void>
}

export async function supervisePostmaster(deps: SupervisorDeps): Promise<Supervisor> {
  const { log, clock } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  let postmaster = await launchPatiently(deps, { insist: false, failures: 0, signal })
  let restart: Promise<void> = Promise.resolve()
  const relaunch = async (failures: number): Promise<void> => {
    postmaster = await launchPatiently(deps, { insist: true, failures, signal })
  }
  const supervise = async (): Promise<void> => {
    for (let shortLives = 0; !signal.aborted;) {
      const launchedAtMs = clock.monotonicMs()
      const how = await postmaster.ended
      if (signal.aborted) return
      log.error({ event: 'embedded_postgres_died', postmasterPid: postmaster.pid, how })
      const diedAtMs = clock.monotonicMs()
      shortLives = diedAtMs - launchedAtMs < shortLifetimeMs ? shortLives + 1 : 0
      restart = relaunch(shortLives)
      await restart
      const outageMs = clock.monotonicMs() - diedAtMs
      log.info({ event: 'embedded_postgres_restarted', postmasterPid: postmaster.pid, outageMs })
    }
  }
  supervise().catch((cause: unknown) => {
    if (signal.aborted) return
    log.fatal({ event: 'embedded_postgres_given_up', error: describeError(cause) })
    deps.onLost(new Fault('Postgres died and could not be started again', { cause, retryable: false }))
  })
  const end = async (how: (running: Postmaster) => Promise<unknown>): Promise<void> => {
    stopping.abort()
    await restart.catch(() => undefined)
    await how(postmaster)
  }
  return {
    pid: () => postmaster.pid,
    stop: () => end((running) => running.stop()),
    kill: () =>
      end((running) => {
        process.kill(running.pid, 'SIGKILL')
        return running.ended
      }),
  }
}

interface Patience {
  /** True to retry even after a failure that is probably permanent. False for the first start, true for a restart. */
  readonly insist: boolean
  /** Number of preceding launches that ended within a second. Each counts as a failed attempt. */
  readonly failures: number
  readonly signal: AbortSignal
}

async function launchPatiently(deps: SupervisorDeps, { insist, failures, signal }: Patience): Promise<Postmaster> {
  let cause: unknown
  for (let attempt = failures + 1; attempt <= attemptsMax; attempt++) {
    if (attempt > 1) await deps.clock.sleep(Math.min(pauseMinMs * 2 ** (attempt - 2), pauseMaxMs), signal)
    try {
      return await deps.launch()
    } catch (error) {
      cause = error
      if (!insist && !(error instanceof Fault && error.retryable)) throw error
      deps.log.warn({ event: 'embedded_postgres_start_failed', attempt, error: describeError(error) })
    }
  }
  throw new Fault(`Postgres did not stay up in ${attemptsMax} attempts`, { cause, retryable: false })
}

/**
 * Maximum attempts. Several are needed, because Postgres does not start while a backend of the ended postmaster runs. A
 * busy backend ends only when it next waits. The eleven pauses between them, from 20 ms and doubled up to 4 s, add up
 * to 17 s.
 */
const attemptsMax = 12
const pauseMinMs = 20
const pauseMaxMs = 4_000

/** Lifetime in milliseconds below which a launch counts as failed. */
const shortLifetimeMs = 1_000
