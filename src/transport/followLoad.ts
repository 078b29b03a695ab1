import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

// Milliseconds of lag at which many new requests count as a flood. At this lag, even a refusal by the router is late,
// so requests of strangers are refused earlier.
const floodLagMs = 100
const floodArrivals = 100
/** Length of a window in milliseconds. At its end, the load is measured and the next window begins. */
export const loadWindowMs = 100
const resolutionMs = 10
const nanosecondsPerMs = 1e6

export type FollowedLoad = ReturnType<typeof followLoad>

/** Measures the lag of the event loop and the requests in consecutive windows. */
export function followLoad() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let arrivals = 0
  let isFlood = false
  let servesPayers = false
  let quotes = { count: 0, sumMs: 0 }
  let utilizationAtStart = performance.eventLoopUtilization()
  return {
    isFlood: () => isFlood,
    arrived: () => void arrivals++,
    sawPayer: () => void (servesPayers = true),
    quoted(durationMs: number) {
      quotes.count++
      quotes.sumMs += durationMs
    },
    read() {
      // Subtract the timer's own interval, which the histogram includes. The histogram is empty if the loop was blocked
      // for the whole window.
      const lagMs = delay.count === 0 ? loadWindowMs : Math.max(0, delay.mean / nanosecondsPerMs - resolutionMs)
      const utilizationNow = performance.eventLoopUtilization()
      const seen = {
        lagMs,
        utilization: performance.eventLoopUtilization(utilizationNow, utilizationAtStart).utilization,
        quoteMs: quotes.count === 0 ? 0 : quotes.sumMs / quotes.count,
        servesPayers,
      }
      isFlood = lagMs > floodLagMs && arrivals > floodArrivals
      utilizationAtStart = utilizationNow
      delay.reset()
      arrivals = 0
      servesPayers = false
      quotes = { count: 0, sumMs: 0 }
      return seen
    },
    close: () => void delay.disable(),
  }
}
