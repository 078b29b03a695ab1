import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { failureOfStatus } from '../../src/gateway/judgeAnswer.ts'

test.each([
  [429, '7', 'rate_limited', 7_000],
  [429, undefined, 'rate_limited', undefined],
  [503, '7', 'rate_limited', 7_000],
  [503, undefined, 'upstream', undefined],
  [500, '7', 'upstream', undefined],
  [402, undefined, 'auth', undefined],
  [404, undefined, undefined, undefined],
])('an upstream that answers %i with Retry-After %s', (statusCode, retryAfter, kind, pauseMs) => {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  // Only status and headers are judged here.
  const failure = failureOfStatus({ statusCode, headers } as IncomingMessage, systemClock)
  expect([failure?.kind, failure?.retryAfterMs]).toEqual([kind, pauseMs])
})
