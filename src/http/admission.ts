import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * How much work is let in. Paid requests may use all of it, unpaid ones two thirds: whoever has paid is served first, and a
 * flood of questions about prices cannot shut them out.
 */
export interface Admission {
  /** Undefined when the request is let in; call the function when it is done. */
  enter(kind: 'paid' | 'unpaid'): (() => void) | undefined
  inFlight(): number
  close(): void
}

const unpaidShare = 2 / 3
// A loop that lags by half a second answers nobody well; new work makes it worse.
const lagMaxMs = 500
const resolutionMs = 20
const windowMs = 1_000
const nanosecondsPerMs = 1e6

export function createAdmission({ inFlightMax }: { readonly inFlightMax: number }): Admission {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // Read once a second: reading the histogram for each request took a fifth of the time of a 402.
  let lags = false
  const window = setInterval(() => {
    lags = delay.mean > lagMaxMs * nanosecondsPerMs
    delay.reset()
  }, windowMs)
  window.unref()
  let inFlight = 0
  return {
    enter(kind) {
      const max = kind === 'paid' ? inFlightMax : inFlightMax * unpaidShare
      if (inFlight >= max || (kind === 'unpaid' && lags)) return undefined
      inFlight++
      return () => void inFlight--
    },
    inFlight: () => inFlight,
    close() {
      clearInterval(window)
      delay.disable()
    },
  }
}
