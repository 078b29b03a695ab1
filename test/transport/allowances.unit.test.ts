import { expect, test } from 'vitest'
import { createAllowances } from '../../src/transport/allowances.ts'

const address = '192.0.2.1'
const floodedFrom = '198.51.100.1'
const windowsMany = 100

function openAllowances() {
  let nowMs = 0
  const allowances = createAllowances(() => nowMs)
  const adapt = (isBusy: boolean) => {
    for (let window = 0; window < windowsMany; window++) {
      allowances.spend(floodedFrom, isBusy ? 25 : 0)
      allowances.adapt(isBusy)
    }
  }
  return { ...allowances, adaptLong: adapt, pass: (ms: number) => void (nowMs += ms) }
}

test('on a busy instance an address has 4 units a second, and 8 at a time', () => {
  const { spend, isSpent, adaptLong, pass } = openAllowances()
  adaptLong(true)
  spend(address, 7)
  expect(isSpent(address)).toBe(false)
  spend(address, 1)
  expect(isSpent(address)).toBe(true)
  expect(isSpent('192.0.2.2')).toBe(false)
  pass(250)
  expect(isSpent(address)).toBe(false)
})

test('without callers who have paid, or with time to spare, no address is turned away', () => {
  const { spend, isSpent, adaptLong } = openAllowances()
  adaptLong(false)
  spend(address, 1_000)
  expect(isSpent(address)).toBe(false)
})

test('an address that stops is served again within four seconds, however much it asked for', () => {
  const { spend, isSpent, adaptLong, pass } = openAllowances()
  adaptLong(true)
  spend(address, 1_000_000)
  pass(3_900)
  expect(isSpent(address)).toBe(true)
  pass(200)
  expect(isSpent(address)).toBe(false)
})

test('when the load is gone, allowances are large again within five seconds', () => {
  const { spend, isSpent, adapt, adaptLong } = openAllowances()
  adaptLong(true)
  for (let window = 0; window < 50; window++) adapt(false)
  spend(address, 1_000)
  expect(isSpent(address)).toBe(false)
})

test('an address that keeps on asking is told to stay away for longer, and the first pause ends that', () => {
  const { spend, restSeconds, adaptLong, pass } = openAllowances()
  adaptLong(true)
  expect(restSeconds(address)).toBe(0)
  const rests = Array.from({ length: 21 }, () => {
    spend(address, 100)
    const seconds = restSeconds(address)
    pass(1_000)
    return seconds
  })
  expect(rests).toEqual([...Array(10).fill(5), ...Array(10).fill(10), 20])
  pass(4_100)
  expect(restSeconds(address)).toBe(0)
  spend(address, 100)
  expect(restSeconds(address)).toBe(5)
})

test('a payment forgives what its address has asked for', () => {
  const { spend, reward, isSpent, adaptLong } = openAllowances()
  adaptLong(true)
  spend(address, 100)
  reward(address, 0n)
  expect(isSpent(address)).toBe(false)
})

test('ten judgements a second still pass, so a neighbour of an attacker is not shut out', () => {
  const { spend, turnsAway, adaptLong, pass } = openAllowances()
  adaptLong(true)
  spend(address, 1_000)
  const judge = () => Array.from({ length: 5 }, () => turnsAway(address)).filter((isAway) => !isAway).length
  expect(judge()).toBe(1)
  pass(100)
  expect(judge()).toBe(1)
  pass(99)
  expect(judge()).toBe(0)
})

test('a flood on a busy instance shrinks allowances before its window ends', () => {
  const { spend, isSpent, adapt } = openAllowances()
  adapt(true)
  for (let units = 0; units < 600; units += 5) spend(floodedFrom, 5)
  expect(isSpent(floodedFrom)).toBe(true)
  spend(address, 8)
  expect(isSpent(address)).toBe(true)
})

test('64 new customers behind one address (NAT) are served while payers alone keep the instance busy', () => {
  const { spend, turnsAway, adapt, pass } = openAllowances()
  const customers = 64
  const turnedAway = Array.from({ length: customers }, () => {
    // A customer each 100 ms: a quote and a proof.
    const refusals = [5, 8].map((units) => {
      const isAway = turnsAway(address)
      spend(address, units)
      return isAway
    })
    pass(100)
    adapt(true)
    return refusals.includes(true)
  })
  expect(turnedAway.filter(Boolean)).toEqual([])
})

test('the networks of one /48 have sixteen allowances together, and a payment forgives no more than its own', () => {
  const { spend, reward, isSpent, adaptLong } = openAllowances()
  adaptLong(true)
  const network = (number: number) => `2001:db8:1:${number.toString(16)}::/64`
  for (let number = 0; number < 15; number++) spend(network(number), 8)
  expect(isSpent(network(100))).toBe(false)
  spend(network(15), 8)
  expect([isSpent(network(100)), isSpent('2001:db8:2:1::/64')]).toEqual([true, false])
  reward(network(0), 0n)
  expect(isSpent(network(100))).toBe(false)
  spend(network(16), 8)
  expect(isSpent(network(100))).toBe(true)
})

/** Units of earned work that the address has left. */
function takeEarned({ hasEarned, spend }: ReturnType<typeof createAllowances>): number {
  let units = 0
  for (; hasEarned(address); units++) spend(address, 1)
  return units
}

test.each([
  ['a hundredth of a cent', 100n, 26],
  ['half a cent', 5_000n, 128],
  ['eight cents', 80_000n, 2_048],
  ['a thousand dollars', 1_000_000_000n, 4_096],
])('%s earns work in proportion, within bounds', (_, priceMicroUsd, units) => {
  const allowances = createAllowances(() => performance.now())
  allowances.reward(address, priceMicroUsd)
  expect(takeEarned(allowances)).toBe(units)
})

test('payments add up, and what is used up is gone', () => {
  const allowances = createAllowances(() => performance.now())
  const { reward, spend, hasEarned } = allowances
  reward(address, 5_000n)
  reward(address, 5_000n)
  spend(address, 200)
  expect(takeEarned(allowances)).toBe(56)
  spend(address, 8)
  expect([hasEarned(address), hasEarned('192.0.2.2')]).toEqual([false, false])
})
