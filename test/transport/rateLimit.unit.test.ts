import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimit } from '../../src/transport/rateLimit.ts'

const minuteMs = 60_000

function limitAt(max: number, clock = { nowMs: 10 * minuteMs }) {
  const limit = createRateLimit({ name: 'requests', max, windowMs: minuteMs }, () => clock.nowMs)
  const takeMany = (client: string, count: number) =>
    Array.from({ length: count }, () => limit.take(client)).filter(({ isAllowed }) => isAllowed).length
  return { limit, clock, takeMany }
}

describe('one client', () => {
  test('gets as many requests as the limit says, and the others theirs', () => {
    const { limit, takeMany } = limitAt(5)
    expect(takeMany('one', 20)).toBe(5)
    expect(takeMany('other', 20)).toBe(5)
    expect(limit.take('one')).toMatchObject({ isAllowed: false, remaining: 0 })
  })

  test('gets what remains and the end of the window', () => {
    const { limit, clock } = limitAt(5)
    clock.nowMs += 15_000
    expect(limit.take('one')).toEqual({ isAllowed: true, remaining: 4, resetSeconds: 45, retryAfterSeconds: 0 })
  })

  test('cannot get twice the limit around the end of a window', () => {
    const { clock, takeMany } = limitAt(100)
    clock.nowMs += minuteMs - 1
    expect(takeMany('one', 200)).toBe(100)
    clock.nowMs += 1
    expect(takeMany('one', 200)).toBe(0)
    clock.nowMs += minuteMs / 2
    expect(takeMany('one', 200)).toBe(50)
  })

  test('gets a request back that was paid for', () => {
    const { limit, takeMany } = limitAt(5)
    takeMany('one', 5)
    limit.giveBack('one')
    limit.giveBack('never seen')
    expect(takeMany('one', 5)).toBe(1)
  })

  test('who waits for Retry-After is let in, and not a whole minute earlier', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 8 }),
        (max, pauses) => {
          const { limit, clock, takeMany } = limitAt(max)
          for (const pause of pauses) {
            takeMany('one', max)
            clock.nowMs += pause
          }
          takeMany('one', max)
          const { retryAfterSeconds } = limit.take('one')
          expect(retryAfterSeconds).toBeGreaterThan(0)
          expect(retryAfterSeconds).toBeLessThanOrEqual(120)
          clock.nowMs += retryAfterSeconds * 1000
          expect(limit.take('one').isAllowed).toBe(true)
        },
      ),
    )
  })
})

test('a limit of 0 is off', () => {
  expect(limitAt(0).takeMany('one', 1_000)).toBe(1_000)
})

test('memory is bounded: the oldest client of the window is forgotten beyond a hundred thousand', () => {
  const { limit, takeMany } = limitAt(1)
  takeMany('first', 1)
  for (let n = 0; n < 100_000; n++) limit.take(`client ${n}`)
  expect(takeMany('first', 1)).toBe(1)
  // Then it has displaced the next one, and that one the one after it.
  expect([takeMany('client 0', 1), takeMany('client 1', 1)]).toEqual([1, 1])
  expect(takeMany('client 99999', 1)).toBe(0)
})

describe('instances that share their counts', () => {
  test('report their busy clients once, and count what the others report', () => {
    const clock = { nowMs: 10 * minuteMs }
    const [one, two] = [limitAt(100, clock), limitAt(100, clock)]
    one.takeMany('busy', 60)
    one.takeMany('quiet', 3)
    two.takeMany('busy', 40)

    const report = one.limit.reports()
    expect(report).toEqual([{ name: 'requests', client: 'busy', window: 10, more: 60, endsAtMs: 11 * minuteMs }])
    one.limit.learn([{ name: 'requests', client: 'busy', window: 10, total: 60 }])
    expect(one.limit.reports()).toEqual([])
    expect(two.limit.reports()).toEqual([expect.objectContaining({ client: 'busy', more: 40 })])
    two.limit.learn([{ name: 'requests', client: 'busy', window: 10, total: 100 }])

    expect(two.limit.take('busy').isAllowed).toBe(false)
    expect(one.takeMany('busy', 1)).toBe(1)
    expect(one.limit.reports()).toEqual([expect.objectContaining({ client: 'busy', more: 1 })])
  })

  test('agree about a client who asks at one and pays at the other', () => {
    const clock = { nowMs: 10 * minuteMs }
    const [one, two] = [limitAt(10, clock), limitAt(10, clock)]
    let known = 0
    const exchange = ({ limit }: typeof one) => {
      for (const { name, client, window, more } of limit.reports()) {
        known += more
        limit.learn([{ name, client, window, total: known }])
      }
    }
    for (let purchase = 0; purchase < 50; purchase++) {
      expect(one.limit.take('payer').isAllowed).toBe(true)
      two.limit.giveBack('payer')
      for (const instance of [one, two, one]) exchange(instance)
    }
    expect(known).toBeLessThanOrEqual(1)
  })

  test('a report of another limit or of a window that has ended changes nothing', () => {
    const { limit, takeMany } = limitAt(2)
    takeMany('one', 1)
    limit.reports()
    limit.learn([
      { name: 'quotes', client: 'one', window: 10, total: 100 },
      { name: 'requests', client: 'one', window: 8, total: 100 },
      { name: 'requests', client: 'unknown', window: 10, total: 100 },
    ])
    expect(takeMany('one', 5)).toBe(1)
  })
})
