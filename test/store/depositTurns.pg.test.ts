import { expect, test } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf } from '@tollbook/core/id'
import { createDeposits, type LimitedDeposit } from '../../src/store/depositLimits.ts'
import { openKernel, openPool } from '../kernel/openKernel.ts'
import { mint } from '../kernel/sampleItems.ts'
import { newTab, openTab, tabAccount, tabDeclaration } from '../kernel/tab.ts'
import { createTestDatabase } from '../support/database.ts'

const { serviceUrl, ownerUrl } = await createTestDatabase()
await openPool(ownerUrl, 1).query(tabDeclaration)

/** One process, which counts its statements for the balances. */
function openProcess() {
  const pool = openPool(serviceUrl)
  let statements = 0
  const counting = new Proxy(pool, {
    get(target, name, receiver): unknown {
      if (name === 'query') statements += 1
      return Reflect.get(target, name, receiver)
    },
  })
  return { deposit: createDeposits({ pool: counting, kernel: openKernel(pool) }), statements: () => statements }
}

const baseUnits = 10n
const limits = { tabBaseUnits: baseUnits, allBaseUnits: 40n * baseUnits, prices: [] }

function newDeposit(terms: Pick<LimitedDeposit, 'mint' | 'baseUnits' | 'limits'> = { mint, baseUnits, limits }) {
  const stream = newTab()
  const tab = tabAccount(stream).split(':').at(-1) ?? ''
  return { item: openTab(stream, { deposit: terms.baseUnits, of: terms.mint }), tab, ...terms }
}

test('64 deposits at once in two processes fill all tabs exactly, and those of one process do not compete', async () => {
  const processes = [openProcess(), openProcess()] as const
  const [one] = processes
  const alone = await Promise.all(Array.from({ length: 30 }, () => one.deposit(newDeposit())))
  expect([alone.filter(({ outcome }) => outcome === 'appended').length, one.statements()]).toEqual([30, 30])
  const both = await Promise.all(
    processes.flatMap(({ deposit }) => Array.from({ length: 17 }, () => deposit(newDeposit()))),
  )
  expect(both.filter(({ outcome }) => outcome === 'appended')).toHaveLength(10)
  expect(both.filter(({ outcome }) => outcome === 'beyond')).toHaveLength(24)
})

const newMint = (): Address =>
  assertPresent(readAddress(encodeBase58(randomBytesOf(32))), 'the address of a mint has 32 bytes')

test('deposits in another mint count by their value in dollars, and not by their number of base units', async () => {
  const { deposit } = openProcess()
  // The dollar token has 6 decimals. A token of 6 decimals costs 0.001 USD.
  const newUsd = () => [10n ** 9n, 10n ** 6n].map((usdBaseUnits) => ({ mint: newMint(), usdBaseUnits }))
  const depositIn = (all: ReturnType<typeof newUsd>, index: number, usd: bigint) => {
    const { mint, usdBaseUnits } = assertPresent(all[index], 'a mint of two')
    const prices = all.map((each) => ({ mint: each.mint, requiredBaseUnits: 5n * each.usdBaseUnits }))
    const own = { tabBaseUnits: 20n * usdBaseUnits, allBaseUnits: 13n * usdBaseUnits, prices }
    return deposit(newDeposit({ mint, baseUnits: usd * usdBaseUnits, limits: own }))
  }
  for (const [first, second] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const both = newUsd()
    const outcomes = []
    for (const [index, usd] of [
      [first, 10n],
      [second, 2n],
      [second, 2n],
      [first, 1n],
    ] as const)
      outcomes.push((await depositIn(both, index, usd)).outcome)
    expect(outcomes).toEqual(['appended', 'appended', 'beyond', 'appended'])
  }
})

test('a part of a base unit of tabs in another mint counts as a whole one', async () => {
  const { deposit } = openProcess()
  const [own, other] = [newMint(), newMint()]
  // A base unit of the other mint is worth 1.5 base units.
  const prices = [
    { mint: own, requiredBaseUnits: 3n },
    { mint: other, requiredBaseUnits: 2n },
  ]
  const depositIn = async (mint: Address, baseUnits: bigint, allBaseUnits: bigint) =>
    (await deposit(newDeposit({ mint, baseUnits, limits: { tabBaseUnits: 100n, allBaseUnits, prices } }))).outcome
  expect(await depositIn(other, 1n, 1n)).toBe('appended')
  expect(await depositIn(own, 10n, 11n)).toBe('beyond')
  expect(await depositIn(own, 10n, 12n)).toBe('appended')
})
