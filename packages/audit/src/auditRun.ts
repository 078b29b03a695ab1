import type { Clock } from '@tollbook/core/clock'
import type { AuditedEvent } from './auditedEvent.ts'
import type { ChainAudit } from './chainAudit.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { RawEvent } from './rawEvent.ts'
import type { Replay } from './replay.ts'
import { writeResumeFile } from './resumeFile.ts'
import type { StoredTransactions } from './storedTransactions.ts'

/** The user stopped it; what was done so far is in the resume file, if there is one. */
export class AuditInterrupted extends Error {
  override readonly name = 'AuditInterrupted'
}

export interface AuditRunDeps {
  readonly replay: Replay
  readonly checkpoints: Checkpoints
  /** Undefined: the stored transactions are not looked at. */
  readonly stored: StoredTransactions | undefined
  /** Undefined: no node is asked. */
  readonly chain: ChainAudit | undefined
  readonly resumeFile: string | undefined
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((position: number) => void) | undefined
}

// Writing the state of a million events takes a tenth of a second.
const saveEveryMs = 15_000

/** The way through the events, whatever their source: a block is applied while what the last ones began is checked. */
export class AuditRun {
  readonly #deps: AuditRunDeps
  #savedAtMs: number

  constructor(deps: AuditRunDeps) {
    this.#deps = deps
    this.#savedAtMs = deps.clock.monotonicMs()
  }

  /** Before so many more events. */
  async prepare(events: number): Promise<void> {
    const { checkpoints, replay } = this.#deps
    await checkpoints.load(replay.tree.size + events)
  }

  apply(raw: RawEvent): void {
    const { checkpoints, replay } = this.#deps
    replay.apply(raw, this.#onEvent)
    checkpoints.compare(replay.tree)
  }

  /** After a block, and after whatever else of the source belongs to it. */
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

  /** The source has no more: everything that was begun is awaited, and the next audit can go on from here. */
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
    if (event.kind === 'PriceListPublished' || event.kind === 'DistributionPaid') return
    this.#deps.stored?.check(event, position)
  }
}
