import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface ProbeTarget {
  isDue(): boolean
  probe(): Promise<void>
}

export interface ProbeJob extends Repeated {
  /** Resolves when every provider of the first round has answered or failed. */
  readonly firstRound: Promise<void>
}

const everyMs = 1_000

/** Probes providers in the background, so that no caller gets a quote for a product that none of them delivers. */
export function startProbeJob(deps: RepeatDeps, probed: readonly ProbeTarget[]): ProbeJob {
  const stopping = Promise.withResolvers<void>()
  // A probe ends by its own time limit; a stop does not wait for it.
  const run = async () => {
    await Promise.race([stopping.promise, Promise.all(probed.filter((one) => one.isDue()).map((one) => one.probe()))])
  }
  const firstRound = run()
  // The next round waits for the first one, so that no source is probed twice at once.
  const repeated = repeat(deps, { name: 'provider probes', everyMs, run: () => firstRound.then(run) })
  return {
    firstRound,
    stop() {
      stopping.resolve()
      return repeated.stop()
    },
  }
}
