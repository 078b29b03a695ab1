import { expect, test } from 'vitest'
import { type Breaker, createBreaker } from '../../src/outbound/breaker.ts'
import { openProviderFixture } from '../support/providerFixture.ts'

function open() {
  const { clock } = openProviderFixture()
  return { clock, breaker: createBreaker(clock) }
}

const items = (count: number, name = 'item') => Array.from({ length: count }, (_, index) => `${name} ${index}`)
const failAll = (breaker: Breaker, failing: readonly (string | undefined)[]) =>
  failing.map((item) => breaker.failed(item))

test('stays closed when different unreadable items follow an answer, because each is at fault itself', () => {
  const { breaker, clock } = open()
  breaker.succeeded('BTC')
  expect(failAll(breaker, items(20))).not.toContain(true)
  expect(breaker.isOpen()).toBe(false)
  clock.forward(5 * 60_000)
  expect(failAll(breaker, items(5))).toEqual([false, false, false, false, true])
  expect(breaker.isOpen()).toBe(true)
})

test('opens when items that were answered before become unreadable', () => {
  const { breaker } = open()
  for (const item of items(5)) breaker.succeeded(item)
  expect(failAll(breaker, items(5))).toEqual([false, false, false, false, true])
})

test('remembers the newest thousand items that were answered', () => {
  const { breaker } = open()
  for (const item of items(1_005)) breaker.succeeded(item)
  expect(failAll(breaker, items(5))).not.toContain(true)
  expect(failAll(breaker, items(1_005).slice(-5))).toContain(true)
})

test('rests again when the request after its rest is for an item that was never answered', () => {
  const { breaker, clock } = open()
  breaker.succeeded('BTC')
  failAll(breaker, Array(5).fill(undefined))
  clock.forward(31_000)
  expect(breaker.isOpen()).toBe(false)
  breaker.enter()
  expect(breaker.failed('odd')).toBe(true)
  expect(breaker.isOpen()).toBe(true)
})

test('rests again when the request after its rest is for an item that helped to open it', () => {
  const { breaker, clock } = open()
  failAll(breaker, items(5))
  clock.forward(31_000)
  breaker.enter()
  expect(breaker.failed('item 0')).toBe(true)
  expect(breaker.isOpen()).toBe(true)
})

test('a shorter pause does not end a longer one', () => {
  const { breaker, clock } = open()
  breaker.rest(60_000)
  breaker.rest(1_000)
  clock.forward(59_000)
  expect(breaker.isOpen()).toBe(true)
  clock.forward(1_000)
  expect(breaker.isOpen()).toBe(false)
})
