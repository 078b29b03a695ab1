import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export interface RateLimit {
  /** Undefined when the request may pass; otherwise the number of seconds until it may. */
  take(key: string): Promise<number | undefined>
}

const unlimited: RateLimit = { take: () => Promise.resolve(undefined) }

/** Requests per minute and client address, counted by this instance. 0 switches the limit off. */
export function createRateLimit(perMinute: number): RateLimit {
  if (perMinute === 0) return unlimited
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return {
    async take(key) {
      try {
        await limiter.consume(key)
        return undefined
      } catch (error) {
        // The library refuses by rejecting with its result; anything else is a failure of the library.
        if (!(error instanceof RateLimiterRes)) throw error
        return Math.max(1, Math.ceil(error.msBeforeNext / 1000))
      }
    },
  }
}
