import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

/** Providers of one answer, which are probed when it is due. */
export interface ProbeTarget {
  isDue(): boolean
  probe(): Promise<void>
}

export interface ProbeJob extends Repeated {
  /** Resolves when every provider of the first round has answered or failed. */
  readonly firstRound: Promise<void>
}

const everyMs = 1_000

/** Probes providers in the background, so that no caller is quoted a product that none of them delivers. */
export function startProbeJob(deps: RepeatDeps, probed: readonly ProbeTarget[]): ProbeJob {
  const stopping = Promise.withResolvers<void>()
  // A probe in progress ends by its own time-out; a stop does not wait for it.
  const run = async () => {
    await Promise.race([stopping.promise, Promise.all(probed.filter((one) => one.isDue()).map((one) => one.probe()))])
  }
  const firstRound = run()
  // The round that follows waits for the first, so that no source is probed twice at once.
  const repeated = repeat(deps, { name: 'provider probes', everyMs, run: () => firstRound.then(run) })
  return {
    firstRound,
    stop() {
      stopping.resolve()
      return repeated.stop()
    },
  }
}
