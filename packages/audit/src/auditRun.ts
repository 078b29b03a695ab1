import type { AuditClock } from './clock.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { ReadEvent } from './kinds/auditedKind.ts'
import type { RawEvent } from './rawEvent.ts'
import type { Replay } from './replay.ts'
import type { StoredTransactions } from './storedTransactions.ts'

/** Thrown when the user stops the audit. A resume file, if there is one, contains the state. */
export class AuditInterrupted extends Error {
  override readonly name = 'AuditInterrupted'
}

export interface AuditRunDeps {
  readonly replay: Replay
  readonly checkpoints: Checkpoints
  /** Undefined if the stored transactions are not checked. */
  readonly stored: StoredTransactions | undefined
  /** Undefined if no node is queried. */
  readonly chain: ChainAudit | undefined
  readonly isResumable: boolean
  readonly clock: AuditClock
  readonly signal: AbortSignal | undefined
  readonly onProgress: (position: number) => void
}

// Minimum interval between two saves, because a save waits for the pending checks.
const saveEveryMs = 15_000

/** Other threads verify the signatures of earlier events while the next events are applied. */
export class AuditRun {
  readonly #deps: AuditRunDeps
  #savedAtMs: number

  constructor(deps: AuditRunDeps) {
    this.#deps = deps
    this.#savedAtMs = deps.clock.monotonicMs()
  }

  /** Loads the checkpoints for the next `events` events. Called before these events are applied. */
  async prepare(events: number): Promise<void> {
    const { checkpoints, replay } = this.#deps
    await checkpoints.load(replay.tree.size + events)
  }

  apply(raw: RawEvent): void {
    const { checkpoints, replay } = this.#deps
    replay.apply(raw, this.#onEvent)
    checkpoints.compare(replay.tree, replay.recordedAtMs)
  }

  /**
   * Waits for the answers of the node, and while too many signature checks are pending. Saves the state when it is due,
   * and after an abort. Throws `AuditInterrupted` after an abort.
   */
  async rest(): Promise<void> {
    const { stored, chain, replay, onProgress, signal, clock, isResumable } = this.#deps
    await stored?.keepUp()
    await chain?.drain()
    onProgress(replay.position)
    const isDue = clock.monotonicMs() - this.#savedAtMs >= saveEveryMs
    if (isResumable && (isDue || signal?.aborted === true)) await this.#save()
    if (signal?.aborted === true) throw new AuditInterrupted(`interrupted after position ${replay.position}`)
  }

  /**
   * Waits for all pending signature checks. Saves the state for the next audit if there is a resume file. Called after
   * the last event.
   */
  async end(): Promise<void> {
    await (this.#deps.isResumable ? this.#save() : this.#deps.stored?.drain())
  }

  async #save(): Promise<void> {
    // Wait for the pending checks, because the next audit does not repeat them.
    await this.#deps.stored?.drain()
    this.#deps.replay.state.save()
    this.#savedAtMs = this.#deps.clock.monotonicMs()
  }

  readonly #onEvent = (event: ReadEvent, position: number): void => {
    this.#deps.chain?.note(event, position)
    this.#deps.stored?.check(event, position)
  }
}
