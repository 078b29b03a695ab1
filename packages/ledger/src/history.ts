import { assert, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { type LedgerLog, type QueryRunner, sqlState } from './database.ts'
import { type Identity, identify, reportLoss, type SeenEvent } from './identity.ts'

/*
 * A database can return to an earlier state under a running process: a restored backup, or a promoted standby that
 * lacks the last commits. A payment recorded only in the lost part could buy a second time. Each process therefore
 * keeps the position and the hash of the newest event that it has seen, and sends them with every append. So the
 * comparison needs no extra round trip.
 */

export type LedgerHistory = ReturnType<typeof createHistory>

/** History that this process has seen. The database rejects an append if its own history differs. */
export interface KnownHistory {
  /** The newest event that this process has seen. Undefined for an empty ledger. */
  readonly newest: SeenEvent | undefined
  readonly timeline: number | undefined
}

export interface LostHistory {
  /** The newest event that this process or another process has seen. Undefined if there is none. */
  readonly seen: SeenEvent | undefined
  readonly finding: string
}

export interface HistoryDeps {
  readonly clock: Clock
  readonly log: LedgerLog
  /** Name of this process in its loss reports to other processes. */
  readonly reporter: string
  /**
   * Wait after a promotion in milliseconds. Processes that knew the old timeline do not append during this time, so
   * that each can first compare its newest event. 0 if the operator guarantees a synchronous standby, because no
   * acknowledged event can then be missing.
   */
  readonly promotionWaitMs: number
}

/** SQLSTATE that `ledger.require_history` raises for a different history. */
const otherHistory = 'TB001'

/** True if the database rejected the append because its history or timeline differs from the known one. */
export function isOtherHistory(error: unknown): boolean {
  return sqlState(error) === otherHistory
}

interface Adopted extends Pick<Identity, 'systemIdentifier' | 'timeline'> {
  /** Number of the newest reported loss when this process opened the ledger. */
  readonly lossNumber: number
}

interface State extends HistoryDeps {
  identity?: Adopted
  newest?: SeenEvent
  promotedAtMs?: number | undefined
  /** Problem of the last comparison. The next successful comparison clears it. */
  passing?: string | undefined
  lost?: LostHistory
}

/**
 * Detects that the database has returned to an earlier state (decision 0020). After that, appends and comparisons throw
 * a retryable `Fault` until the process restarts.
 */
export function createHistory(deps: HistoryDeps) {
  assert(deps.promotionWaitMs >= 0, 'a wait is not negative')
  const state: State = { ...deps }
  const requireOpen = (): void => {
    if (state.lost !== undefined) throw new Fault(closedText, { retryable: true })
  }
  return {
    /** Undefined while the database continues the ledger that this process has seen. */
    problem: () => (state.lost === undefined ? state.passing : closedText),
    /** Undefined until the ledger has returned to an earlier state. The loss then stays until the process ends. */
    lost: () => state.lost,
    known: (): KnownHistory => ({ newest: state.newest, timeline: state.identity?.timeline }),
    /** Call this only with an event that the database has acknowledged. */
    observe: (seen: SeenEvent) => observe(state, seen),
    /** Throws once the ledger has returned to an earlier state. Sends no query. */
    requireOpen,
    /** Throws a `Fault` unless the database continues the ledger that this process has seen. */
    async compare(runner: QueryRunner): Promise<void> {
      requireOpen()
      // Read this before the query, because an append that ends during the query may change it.
      const { newest } = state
      await judge(state, { runner, newest, found: await identify(runner, newest?.position) })
    },
  }
}

// Callers also get this text, so it omits positions.
const closedText = 'the ledger is not the one that this service has recorded; the operator has to look'

function observe(state: State, seen: SeenEvent): void {
  if (state.newest === undefined || seen.position > state.newest.position) state.newest = seen
}

interface Comparison {
  readonly runner: QueryRunner
  readonly newest: SeenEvent | undefined
  readonly found: Identity
}

async function judge(state: State, { runner, newest, found }: Comparison): Promise<void> {
  const { identity } = state
  if (found.timeline === undefined) throw pass(state, 'the database is a standby: connect to the primary')
  if (identity === undefined) return adopt(state, found)
  const { systemIdentifier, timeline } = identity
  if (found.systemIdentifier !== systemIdentifier) {
    const finding = `the database belongs to cluster ${found.systemIdentifier}, and the ledger so far to cluster ${systemIdentifier}`
    throw close(state, { seen: newest, finding })
  }
  // Write nothing to this database, because it may be an old primary that was not shut down.
  if (timeline !== undefined && found.timeline < timeline)
    throw pass(state, `the database is an old primary, on timeline ${found.timeline} and not ${timeline}`)
  if (newest !== undefined && found.knownLeaf !== newest.leafHash) {
    await report(state, runner, newest)
    throw close(state, { seen: newest, finding: findingOf(newest, found) })
  }
  if (found.loss !== undefined && found.loss.number > identity.lossNumber) {
    const { seen } = found.loss
    throw close(state, { seen, finding: `another instance reports that event ${seen.position} is lost` })
  }
  if (timeline === found.timeline) return adopt(state, found)
  awaitOthers(state, found)
}

function findingOf({ position, leafHash }: SeenEvent, { headPosition, knownLeaf }: Identity): string {
  return headPosition < position
    ? `the database ends at event ${headPosition}, and this instance has seen event ${position}`
    : `event ${position} of the database is ${knownLeaf ?? 'missing'}, and this instance has seen ${leafHash}`
}

function adopt(state: State, found: Identity): void {
  if (state.identity !== undefined && state.identity.timeline !== found.timeline)
    state.log.warn({ event: 'database_promotion_accepted', timeline: found.timeline })
  // Accept a loss that was reported before this process opened the ledger, because the operator has accepted it.
  const lossNumber = state.identity?.lossNumber ?? found.loss?.number ?? 0
  state.identity = { systemIdentifier: found.systemIdentifier, timeline: found.timeline, lossNumber }
  state.promotedAtMs = undefined
  state.passing = undefined
  if (found.head !== undefined) observe(state, found.head)
}

/** Delays appends after a promotion, so that the other processes can first compare and report missing events. */
function awaitOthers(state: State, found: Identity): void {
  const nowMs = state.clock.monotonicMs()
  state.promotedAtMs ??= nowMs
  const leftMs = state.promotedAtMs + state.promotionWaitMs - nowMs
  if (leftMs <= 0) return adopt(state, found)
  throw pass(state, `the database was promoted; sales continue in ${Math.ceil(leftMs / 1000)} s if nothing is missing`)
}

function pass(state: State, problem: string): Fault {
  state.passing = problem
  return new Fault(problem, { retryable: true })
}

function close(state: State, lost: LostHistory): Fault {
  if (state.lost === undefined) {
    state.lost = lost
    state.log.error({ event: 'ledger_went_back', finding: lost.finding, action: whatToDo })
  }
  return new Fault(closedText, { retryable: true, cause: new Fault(lost.finding, { retryable: false }) })
}

const whatToDo =
  'An older backup was restored, an asynchronous standby was promoted, or DATABASE_URL leads to another database. Payments ' +
  'claimed since could buy again, so nothing is sold and nothing is signed. Restore the newer ledger and restart every ' +
  'instance; only if the loss is accepted, move CHECKPOINT_FILE and the .lost file next to it away first (docs/operations.md)'

/** Reports the loss through the database, where the other processes find it when they compare. */
async function report(state: State, runner: QueryRunner, seen: SeenEvent): Promise<void> {
  try {
    await reportLoss(runner, { ...seen, reporter: state.reporter })
  } catch (error) {
    state.log.warn({ event: 'loss_not_reported', error: describeError(error) })
  }
}

/** Asserts that all events of the answer are newer than the known event. */
export function observeAppended(history: LedgerHistory, leaves: readonly SeenEvent[], before: KnownHistory): void {
  const last = leaves.at(-1)
  if (last === undefined) return
  const first = assertPresent(leaves[0], 'a list with a last element has a first')
  assert(
    first.position > (before.newest?.position ?? 0),
    'the database refuses an append to an older ledger than the caller has seen',
  )
  history.observe(last)
}
