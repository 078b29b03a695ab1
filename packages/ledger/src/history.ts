import { assert, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { describeError, Fault } from '@tollbook/core/fault'
import { type QueryRunner, sqlState } from './database.ts'
import { type Identity, identify, reportLoss, type SeenEvent } from './identity.ts'
import type { LedgerLog } from './log.ts'

/*
 * A database can go backwards under a running process: a restored backup, or a promoted standby that lacks the last
 * commits. Payments that only the lost part knows could buy a second time. Each process therefore remembers the newest
 * event that it has seen, and sends it along with every append, so that the comparison costs no round trip.
 */

/** Watches that the database never returns to an earlier state of the ledger (decision 0020). */
export interface LedgerHistory {
  /** Undefined while the database continues the ledger that this process has seen. */
  problem(): string | undefined
  /** Set once the ledger went backwards. It stays until the process ends. */
  lost(): LostHistory | undefined
  /** Sent with each append. */
  known(): KnownHistory
  /** Remembers an event that the database has acknowledged. */
  observe(seen: SeenEvent): void
  /** Throws a Fault unless the database continues the ledger that was seen. */
  compare(runner: QueryRunner): Promise<void>
  /** Throws once the ledger went backwards; sends nothing. */
  requireOpen(): void
}

/** History that an append expects of the database: another one rejects it. */
export interface KnownHistory {
  /** Undefined for an empty ledger. */
  readonly newest: SeenEvent | undefined
  readonly timeline: number | undefined
}

export interface LostHistory {
  /** An event that this process, or another one, has seen and that the database no longer has. */
  readonly seen: SeenEvent | undefined
  readonly finding: string
}

export interface HistoryDeps {
  readonly clock: Clock
  readonly log: LedgerLog
  /** Names this process in reports to the others. */
  readonly reporter: string
  /**
   * Time after a promotion in which every process compares its own newest event, before any of them appends again. 0 where
   * the operator promises a synchronous standby: nothing that was acknowledged can be missing there.
   */
  readonly promotionWaitMs: number
}

/** Raised by `ledger.require_history`. */
const otherHistory = 'TB001'

/** The append was rejected because the database does not have the events that this process has seen. */
export function isOtherHistory(error: unknown): boolean {
  return sqlState(error) === otherHistory
}

interface Adopted extends Pick<Identity, 'systemIdentifier' | 'timeline'> {
  /** The newest report of a loss when this process opened the ledger. */
  readonly lossNumber: number
}

interface State extends HistoryDeps {
  identity: Adopted | undefined
  newest: SeenEvent | undefined
  promotedAtMs: number | undefined
  /** Problem of the last comparison. The next comparison that succeeds clears it. */
  passing: string | undefined
  lost: LostHistory | undefined
}

/** After a loss was found, appends and comparisons throw a retryable `Fault`. Only a restart after the repair ends that. */
export function createHistory(deps: HistoryDeps): LedgerHistory {
  assert(deps.promotionWaitMs >= 0, 'a wait is not negative')
  const state: State = {
    ...deps,
    identity: undefined,
    newest: undefined,
    promotedAtMs: undefined,
    passing: undefined,
    lost: undefined,
  }
  const requireOpen = (): void => {
    if (state.lost !== undefined) throw new Fault(closedText, { retryable: true })
  }
  return {
    problem: () => (state.lost === undefined ? state.passing : closedText),
    lost: () => state.lost,
    known: () => ({ newest: state.newest, timeline: state.identity?.timeline }),
    observe: (seen) => observe(state, seen),
    requireOpen,
    async compare(runner) {
      requireOpen()
      // Captured before the question: an append that is answered meanwhile may already be newer.
      const { newest } = state
      await judge(state, { runner, newest, found: await identify(runner, newest?.position) })
    },
  }
}

// Shown to callers too, so without positions.
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
  // An old primary that was not shut down. Also a restored backup of it; either way nothing is written there.
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
  // A loss that was reported before this process opened the ledger is a loss that the operator has accepted.
  const lossNumber = state.identity?.lossNumber ?? found.loss?.number ?? 0
  state.identity = { systemIdentifier: found.systemIdentifier, timeline: found.timeline, lossNumber }
  state.promotedAtMs = undefined
  state.passing = undefined
  if (found.head !== undefined) observe(state, found.head)
}

/** After a promotion the other processes compare too, and report what they miss, before any of them appends. */
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

/** For the other processes. It is the same cluster, so the row reaches the instances of this ledger and of no other. */
async function report(state: State, runner: QueryRunner, seen: SeenEvent): Promise<void> {
  try {
    await reportLoss(runner, { ...seen, reporter: state.reporter })
  } catch (error) {
    state.log.warn({ event: 'loss_not_reported', error: describeError(error) })
  }
}

/** Events of an answer to an append: the newest is remembered, and none of them may be older than what was known. */
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
