import { expect, test } from 'vitest'
import { createEarnedWork } from '../../src/transport/earnedWork.ts'

const address = '192.0.2.1'

function openWork() {
  const work = createEarnedWork(() => performance.now())
  /** Units that the address has left. */
  const left = () => {
    let units = 0
    for (; work.has(address); units++) work.spend(address, 1)
    return units
  }
  return { ...work, left }
}

test.each([
  ['a hundredth of a cent', 100n, 26],
  ['half a cent', 5_000n, 128],
  ['eight cents', 80_000n, 2_048],
  ['a thousand dollars', 1_000_000_000n, 4_096],
])('%s earns work in proportion, within bounds', (_, priceMicroUsd, units) => {
  const { add, left } = openWork()
  add(address, priceMicroUsd)
  expect(left()).toBe(units)
})

test('payments add up, and what is used up is gone', () => {
  const { add, spend, has, left } = openWork()
  add(address, 5_000n)
  add(address, 5_000n)
  spend(address, 200)
  expect(left()).toBe(56)
  spend(address, 8)
  expect([has(address), has('192.0.2.2')]).toEqual([false, false])
})
