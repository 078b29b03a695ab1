import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export interface RateLimit {
  /** Undefined when the request may pass; otherwise the seconds after which it may. */
  take(key: string): Promise<number | undefined>
}

const unlimited: RateLimit = { take: () => Promise.resolve(undefined) }

/** Requests a minute and client address, over this instance. 0 switches it off. */
export function createRateLimit(perMinute: number): RateLimit {
  if (perMinute === 0) return unlimited
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return {
    async take(key) {
      try {
        await limiter.consume(key)
        return undefined
      } catch (error) {
        // The library says no by rejecting with its result; anything else is a failure of its own.
        if (!(error instanceof RateLimiterRes)) throw error
        return Math.max(1, Math.ceil(error.msBeforeNext / 1000))
      }
    },
  }
}
