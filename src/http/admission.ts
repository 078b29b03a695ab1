import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Limits the requests in progress. Requests with a proof may use the whole limit, others two thirds: a flood of requests
 * for prices cannot shut out callers who have paid.
 */
export interface Admission {
  /** Undefined when the limit is reached; otherwise a function that ends the request. */
  enter(kind: 'paid' | 'unpaid'): (() => void) | undefined
  inFlight(): number
  close(): void
}

const unpaidShare = 2 / 3
// An event loop that lags by half a second answers every request late; new work makes it worse.
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
