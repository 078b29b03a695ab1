import { expect, test } from 'vitest'
import { createDeposits } from '../../src/store/depositLimits.ts'
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

function newDeposit() {
  const stream = newTab()
  const tab = tabAccount(stream).split(':').at(-1) ?? ''
  return { item: openTab(stream, { deposit: baseUnits }), tab, mint, baseUnits, limits }
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
