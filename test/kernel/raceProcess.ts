import { systemClock } from '@tollbook/core/clock'
import { openDatabase } from '@tollbook/ledger/database'
import type { AppendResult } from '@tollbook/ledger/item'
import { createLedger } from '@tollbook/ledger/ledger'
import { claim } from './sampleItems.ts'
import { debitTab } from './tab.ts'

/** One process of a race; each of its queues meets the others in the database alone. */
export interface RaceOrder {
  readonly databaseUrl: string
  readonly number: number
  readonly queues: number
  /** Ids in hex. */
  readonly signatures: readonly string[]
  readonly tabs: readonly string[]
  readonly price: string
}

/** Outcomes and how often each came. */
export type RaceReport = Readonly<Record<string, number>>

const order: RaceOrder = JSON.parse(process.argv[2] ?? '')
const quiet = { warn: () => undefined, error: () => undefined }
const pool = openDatabase({ databaseUrl: order.databaseUrl, applicationName: 'racer', connectionsMax: 4, log: quiet })
const queues = Array.from({ length: order.queues }, () =>
  createLedger({ pool, clock: systemClock, log: quiet, outcomeTimeoutMs: 60_000 }),
)
const report: Record<string, number> = {}

function count(what: string, result: AppendResult): void {
  const outcome = `${what} ${result.outcome === 'appended' ? 'appended' : result.refusal.reason}`
  report[outcome] = (report[outcome] ?? 0) + 1
}

async function run(): Promise<void> {
  for (const hex of order.signatures) {
    const stream = Buffer.from(hex, 'hex')
    await Promise.all(queues.map(async (queue) => count('signature', await queue.append(claim(stream)))))
  }
  for (const hex of order.tabs) {
    const tab = Buffer.from(hex, 'hex')
    const debit = (n: number) => debitTab(tab, { number: order.number * order.queues + n, price: BigInt(order.price) })
    await Promise.all(queues.map(async (queue, n) => count('tab', await queue.append(debit(n)))))
  }
}

process.once('message', () => {
  void run().then(async () => {
    process.send?.(report)
    await pool.end()
    process.disconnect()
  })
})
await pool.query('select 1')
process.send?.('ready')
