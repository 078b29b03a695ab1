import { expect, test } from 'vitest'
import { createPlaceWatch } from '../../src/rendering/placeWatch.ts'

/** Tick of the first stall of a page that moves as many bytes before each tick. */
function firstStall(bytesBefore: (tick: number) => number): number | undefined {
  let [bytes, stalledAt, tick]: [number, number | undefined, number] = [0, undefined, 0]
  const watch = createPlaceWatch(
    () => bytes,
    () => (stalledAt ??= tick),
  )
  for (tick = 1; tick <= 100; tick++) {
    bytes += bytesBefore(tick)
    watch.tick()
  }
  return stalledAt
}

test('a page passes its place on after a second without traffic', () => {
  expect(firstStall(() => 0)).toBe(4)
  expect(firstStall((tick) => (tick <= 6 ? 1_000 : 0))).toBe(10)
})

test('a page that receives a byte at a time passes its place on after five seconds', () => {
  expect(firstStall(() => 1)).toBe(20)
})
