import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface ProbeTarget {
  isDue(): boolean
  probe(): Promise<void>
}

export interface ProbeJob extends Repeated {
  /** Resolves when the providers of the first run have answered or failed, or at a stop. */
  readonly firstRun: Promise<void>
}

const everyMs = 1_000

/** Probes providers in the background, so that no caller gets a quote for a product that no provider delivers. */
export function startProbeJob(deps: RepeatDeps, probed: readonly ProbeTarget[]): ProbeJob {
  const stopping = Promise.withResolvers<void>()
  // Do not wait for running probes at a stop, because each probe ends at its time limit.
  const run = async () => {
    await Promise.race([stopping.promise, Promise.all(probed.filter((one) => one.isDue()).map((one) => one.probe()))])
  }
  const firstRun = run()
  // Start the next run after the first, so that no source is probed twice at the same time.
  const repeated = repeat(deps, { name: 'provider probes', everyMs, run: () => firstRun.then(run) })
  return {
    firstRun,
    stop() {
      stopping.resolve()
      return repeated.stop()
    },
  }
}
