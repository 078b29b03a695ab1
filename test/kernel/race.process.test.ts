import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTestDatabase } from '../support/database.ts'
import { onceAlive } from '../support/onceAlive.ts'
import { findBroken } from './checkLedger.ts'
import { openKernel, openPool } from './openKernel.ts'
import type { RaceOrder, RaceReport } from './raceProcess.ts'
import { newSignature } from './sampleItems.ts'
import { newTab, openTab, tabAccount, tabDeclaration } from './tab.ts'

const { serviceUrl, adminUrl, ownerUrl } = await createTestDatabase()
await openPool(ownerUrl, 1).query(tabDeclaration)
const admin = openPool(adminUrl, 2)
const ledger = openKernel(openPool(serviceUrl))

const processes = 3
const queuesEach = 8
const ways = processes * queuesEach

/** Starts the processes, waits until each is ready, then lets them go at once. */
async function race(order: Omit<RaceOrder, 'databaseUrl' | 'queues' | 'number'>): Promise<RaceReport> {
  const program = fileURLToPath(new URL('raceProcess.ts', import.meta.url))
  const racers = Array.from({ length: processes }, (_, number) => {
    const whole: RaceOrder = { ...order, databaseUrl: serviceUrl, queues: queuesEach, number }
    return fork(program, [JSON.stringify(whole)], { execArgv: [] })
  })
  await Promise.all(racers.map((racer) => onceAlive(racer, 'message')))
  const reports = racers.map(async (racer): Promise<RaceReport> => {
    const [report] = await onceAlive(racer, 'message')
    return z.record(z.string(), z.number()).parse(report)
  })
  for (const racer of racers) racer.send('go')
  const sum: Record<string, number> = {}
  for (const report of await Promise.all(reports))
    for (const [outcome, count] of Object.entries(report)) sum[outcome] = (sum[outcome] ?? 0) + count
  return sum
}

test('of the claims of one signature by several processes exactly one is taken (I1)', async () => {
  const signatures = Array.from({ length: 25 }, () => Buffer.from(newSignature()).toString('hex'))
  expect(await race({ signatures, tabs: [], price: '0' })).toEqual({
    'signature appended': 25,
    'signature conflict': 25 * (ways - 1),
  })
  expect(await findBroken(admin)).toEqual([])
})

test('debits of one tab by several processes never overdraw it, and use up what fits', async () => {
  const fits = 10
  const tabs = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const tab = newTab()
      await ledger.append(openTab(tab, { deposit: 7n * BigInt(fits) + 3n }))
      return tab
    }),
  )
  const hex = tabs.map((tab) => Buffer.from(tab).toString('hex'))
  expect(await race({ signatures: [], tabs: hex, price: '7' })).toEqual({
    'tab appended': 10 * fits,
    'tab limit': 10 * (ways - fits),
  })
  const { rows } = await admin.query<{ balance: string }>(
    'select distinct balance from ledger.accounts where name = any($1)',
    [tabs.map(tabAccount)],
  )
  expect(rows).toEqual([{ balance: '-3' }])
  expect(await findBroken(admin)).toEqual([])
})
