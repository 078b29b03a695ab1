import { LedgerDamage } from '@tollbook/core/ledgerDamage'
import { describeError } from '@tollbook/core/fault'
import { repeat, type RepeatDeps } from './repeat.ts'
import type { Watch } from './watch.ts'

export interface SealStep {
  /** Number of events that this step sealed. 0 if there were none, or another instance is sealing. */
  readonly sealedEvents: number
  readonly head: number
  readonly checkpoint: { readonly size: number; readonly note: string } | undefined
}

export interface SealJobDeps extends RepeatDeps {
  /**
   * Throws `LedgerDamage` if the ledger differs from what was written. Calls `onUnsealed` before it seals, because a
   * step that fails has no result.
   */
  readonly sealNext: (onUnsealed: (events: number) => void) => Promise<SealStep>
  /** Stores the newest checkpoint outside the database. Undefined: the operator has configured no place for checkpoints. */
  readonly keep: ((note: string) => Promise<void>) | undefined
  /** True if the ledger has returned to an earlier state. The loss is then recorded outside the database. */
  readonly noteLoss?: () => Promise<boolean>
  readonly onSeal: (seal: { readonly unsealedEvents: number; readonly damaged: boolean }) => void
}

// Interval between steps: half of the second by which the seal may lag.
const everyMs = 500
// Maximum of steps per run. A step seals at most 16,384 events. The stop signal is checked after each step.
const stepsMax = 1_000
// Minimum time between two writes of the checkpoint, because more frequent writes would wear out the disk.
const keepEveryMs = 1_000

/**
 * Starts to seal new events. Resolves after the first check. If the job finds that the ledger is damaged, it stops
 * sealing and reports the damage until the service is restarted.
 */
export async function startSealJob(deps: SealJobDeps): Promise<Watch> {
  const watch = createWatch(deps)
  await watch.look({ stepsMax: 1 })
  const task = repeat(deps, {
    name: 'seal',
    everyMs,
    run: () => watch.look({ stepsMax }),
  })
  return {
    problem: watch.problem,
    async stop() {
      watch.stopping()
      await task.stop()
      // Seal the last events now if possible, and not only at the next start.
      await watch.look({ stepsMax: 1, keepNow: true })
    },
  }
}

interface Look {
  readonly stepsMax: number
  readonly keepNow?: boolean
}

function createWatch({ clock, log, sealNext, keep, noteLoss, onSeal }: SealJobDeps) {
  let damage: string | undefined
  let isDelayed = false
  const stopping = new AbortController()
  let stored: { readonly note: string; readonly atMs: number } | undefined

  const onUnsealed = (unsealedEvents: number) => onSeal({ unsealedEvents, damaged: false })

  async function seal(steps: number): Promise<SealStep | undefined> {
    let step: SealStep | undefined
    for (let count = 1; count <= steps && (count === 1 || !stopping.signal.aborted); count++) {
      step = await sealNext(onUnsealed)
      const unsealedEvents = step.head - (step.checkpoint?.size ?? 0)
      onUnsealed(unsealedEvents)
      if (step.sealedEvents === 0 || unsealedEvents <= 0) return step
    }
    return step
  }

  async function keepNewest({ checkpoint }: SealStep, now: boolean): Promise<void> {
    const nowMs = clock.monotonicMs()
    if (keep === undefined || checkpoint === undefined || checkpoint.note === stored?.note) return
    if (!now && stored !== undefined && nowMs - stored.atMs < keepEveryMs) return
    await keep(checkpoint.note)
    stored = { note: checkpoint.note, atMs: nowMs }
  }

  function onFailure(error: unknown): void {
    if (error instanceof LedgerDamage) {
      damage = error.message
      onSeal({ unsealedEvents: 0, damaged: true })
      log.fatal({ event: 'ledger_damaged', problem: damage })
    } else if (!isDelayed) {
      // Log the delay once, because the job would repeat it twice a second while the database is unavailable.
      isDelayed = true
      log.warn({ event: 'seal_delayed', error: describeError(error) })
    }
  }

  async function sealAndKeep({ stepsMax: steps, keepNow = false }: Look): Promise<void> {
    try {
      const step = await seal(steps)
      if (step !== undefined) await keepNewest(step, keepNow)
    } finally {
      if ((await noteLoss?.()) === true) onSeal({ unsealedEvents: 0, damaged: true })
    }
  }

  return {
    problem: () => (damage === undefined ? undefined : 'the ledger does not match its seal; the operator has to look'),
    stopping: () => stopping.abort(),
    async look(options: Look): Promise<void> {
      if (damage !== undefined) return
      try {
        await sealAndKeep(options)
        if (isDelayed) log.info({ event: 'seal_resumed' })
        isDelayed = false
      } catch (error) {
        onFailure(error)
      }
    },
  }
}
