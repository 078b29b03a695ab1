import type { AuditClock } from './clock.ts'
import type { AuditedEvent } from './auditedEvent.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { RawEvent } from './rawEvent.ts'
import type { Replay } from './replay.ts'
import { writeResumeFile } from './resumeFile.ts'
import type { StoredTransactions } from './storedTransactions.ts'

/** The user stopped the audit; its state is in the resume file, if there is one. */
export class AuditInterrupted extends Error {
  override readonly name = 'AuditInterrupted'
}

export interface AuditRunDeps {
  readonly replay: Replay
  readonly checkpoints: Checkpoints
  /** Undefined: the stored transactions are not examined. */
  readonly stored: StoredTransactions | undefined
  /** Undefined: no node is asked. */
  readonly chain: ChainAudit | undefined
  readonly resumeFile: string | undefined
  readonly clock: AuditClock
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((position: number) => void) | undefined
}

// Writing the state of a million events takes a tenth of a second.
const saveEveryMs = 15_000

/** Applies the events of any source: signatures of earlier blocks are verified while a block is applied. */
export class AuditRun {
  readonly #deps: AuditRunDeps
  #savedAtMs: number

  constructor(deps: AuditRunDeps) {
    this.#deps = deps
    this.#savedAtMs = deps.clock.monotonicMs()
  }

  /** Before that many more events. */
  async prepare(events: number): Promise<void> {
    const { checkpoints, replay } = this.#deps
    await checkpoints.load(replay.tree.size + events)
  }

  apply(raw: RawEvent): void {
    const { checkpoints, replay } = this.#deps
    replay.apply(raw, this.#onEvent)
    checkpoints.compare(replay.tree, replay.recordedAtMs)
  }

  /** After a block. */
  async rest(): Promise<void> {
    const { stored, chain, replay, onProgress, signal, clock, resumeFile } = this.#deps
    await stored?.keepUp()
    await chain?.drain()
    onProgress?.(replay.position)
    if (!replay.mayPause) return
    const isDue = clock.monotonicMs() - this.#savedAtMs >= saveEveryMs
    if (resumeFile !== undefined && (isDue || signal?.aborted === true)) await this.#save()
    if (signal?.aborted === true) throw new AuditInterrupted(`interrupted after position ${replay.position}`)
  }

  /** The source has no more events: awaits everything in progress, and the next audit can continue from here. */
  async end(): Promise<void> {
    const { stored, replay } = this.#deps
    await stored?.drain()
    if (replay.mayPause) await this.#save()
  }

  async #save(): Promise<void> {
    const { resumeFile, replay, stored, chain, clock } = this.#deps
    if (resumeFile === undefined) return
    await stored?.drain()
    const figures = stored?.figures ?? { signed: 0, amountsShown: 0, withoutBytes: 0 }
    await writeResumeFile(resumeFile, { replay, stored: figures, chain: chain?.figures })
    this.#savedAtMs = clock.monotonicMs()
  }

  readonly #onEvent = (event: AuditedEvent, position: number): void => {
    this.#deps.chain?.note(event, position)
    this.#deps.stored?.check(event, position)
  }
}
