import type { Clock } from '@tollbook/core/clock'
import { Fault, describeError } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import type { Postmaster } from './postmaster.ts'

export interface SupervisorDeps {
  readonly launch: () => Promise<Postmaster>
  /** It died and could not be brought back. */
  readonly onLost: (error: Error) => void
  readonly log: Log
  readonly clock: Clock
}

export interface Supervisor {
  readonly pid: () => number
  readonly stop: () => Promise<void>
  /** kill -9 without a restart, as of a machine that is lost. */
  readonly kill: () => Promise<void>
}

/** Keeps one postmaster alive: whatever ends it but us, it is started again. */
export async function supervisePostmaster(deps: SupervisorDeps): Promise<Supervisor> {
  const watch: Watch = {
    ...deps,
    stopping: new AbortController(),
    postmaster: await launchPatiently(deps, { insist: false, signal: undefined }),
    launchedAtMs: deps.clock.monotonicMs(),
    shortLives: 0,
    recovery: Promise.resolve(),
  }
  awaitEnd(watch)
  return {
    pid: () => watch.postmaster.pid,
    stop: async () => {
      watch.stopping.abort()
      await watch.recovery
      await watch.postmaster.stop()
    },
    kill: async () => {
      watch.stopping.abort()
      await watch.recovery
      process.kill(watch.postmaster.pid, 'SIGKILL')
      await watch.postmaster.ended
    },
  }
}

interface Watch extends SupervisorDeps {
  readonly stopping: AbortController
  postmaster: Postmaster
  launchedAtMs: number
  shortLives: number
  /** The current restart, or the last one. Never rejects. */
  recovery: Promise<void>
}

function awaitEnd(watch: Watch): void {
  void watch.postmaster.ended.then((how) => {
    if (watch.stopping.signal.aborted) return
    watch.log.error({ event: 'embedded_postgres_died', postmasterPid: watch.postmaster.pid, how })
    watch.recovery = recover(watch)
  })
}

async function recover(watch: Watch): Promise<void> {
  const diedAtMs = watch.clock.monotonicMs()
  watch.shortLives = diedAtMs - watch.launchedAtMs < shortLifetimeMs ? watch.shortLives + 1 : 0
  if (watch.shortLives > shortLivesMax) {
    const lives = `Postgres died ${watch.shortLives} times in a row, each time within ${shortLifetimeMs} ms`
    giveUp(watch, new Fault(lives, { retryable: false }))
    return
  }
  try {
    watch.postmaster = await launchPatiently(watch, { insist: true, signal: watch.stopping.signal })
  } catch (error) {
    if (watch.stopping.signal.aborted) return
    giveUp(watch, new Fault('Postgres died and could not be started again', { cause: error, retryable: false }))
    return
  }
  watch.launchedAtMs = watch.clock.monotonicMs()
  watch.log.info({
    event: 'embedded_postgres_restarted',
    postmasterPid: watch.postmaster.pid,
    outageMs: watch.launchedAtMs - diedAtMs,
  })
  awaitEnd(watch)
}

function giveUp(watch: Watch, fault: Fault): void {
  watch.log.fatal({ event: 'embedded_postgres_given_up', error: describeError(fault) })
  watch.onLost(fault)
}

interface Patience {
  /** Whether to retry after a failure that is probably permanent: no for a first start, yes for a restart. */
  readonly insist: boolean
  readonly signal: AbortSignal | undefined
}

async function launchPatiently(deps: SupervisorDeps, patience: Patience): Promise<Postmaster> {
  let failure: unknown
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    if (attempt > 1) await deps.clock.sleep(Math.min(pauseMinMs * 2 ** (attempt - 2), pauseMaxMs), patience.signal)
    try {
      return await deps.launch()
    } catch (error) {
      failure = error
      if (!patience.insist && !(error instanceof Fault && error.retryable)) throw error
      deps.log.warn({ event: 'embedded_postgres_start_failed', attempt, error: describeError(error) })
    }
  }
  throw new Fault(`Postgres did not start in ${attemptsMax} attempts`, { cause: failure, retryable: false })
}

/** 20 ms, doubling to 4 s: twelve attempts last 20 s, time enough for a backend that is deep in a query to notice. */
const attemptsMax = 12
const pauseMinMs = 20
const pauseMaxMs = 4_000

/** A postmaster that repeatedly dies this early has a fault that a restart does not fix. */
const shortLifetimeMs = 1_000
const shortLivesMax = 50
