import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

// At this lag, even a refusal by the router is late, so requests of strangers are refused earlier.
const floodLagMs = 100
const floodArrivals = 100
export const loadWindowMs = 100
const resolutionMs = 10
const nanosecondsPerMs = 1e6

export type FollowedLoad = ReturnType<typeof followLoad>

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
      // The histogram includes the timer's own interval. It is empty if the loop was blocked for the whole window.
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
