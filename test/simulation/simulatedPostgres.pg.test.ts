import { assertPresent } from '@tollbook/core/assert'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import type { AppendResult, Item } from '@tollbook/ledger/item'
import { readEvents, streamKey } from '@tollbook/ledger/readEvents'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { findBroken } from '../kernel/checkLedger.ts'
import { openPool } from '../kernel/openKernel.ts'
import { createTestDatabase } from '../support/database.ts'
import { simulate } from './simulate.ts'
import { type JudgedItem, readSchemaRules } from './simulatedPostgres.ts'

/*
 * The simulation runs on a ledger in memory. Its appends are repeated on a real Postgres, one after the other, and have
 * to get the same verdicts. Time does not pass there as in the run, so a lease or a key that had ended is ended by
 * hand.
 */

const rules = await readSchemaRules()

function verdictOf(result: AppendResult): string {
  if (result.outcome === 'appended') return 'appended'
  return result.refusal.reason === 'limit' ? `limit ${result.refusal.account}` : result.refusal.reason
}

/** Leases and keys that the run's clock had ended by the time of an item. */
function createTimekeeper(admin: pg.Pool) {
  const leases = new Map<string, number>()
  const keys = new Map<string, number>()
  let nowMs = 0
  const keyName = ({ space, key }: { space: number; key: Uint8Array }) => `${space} ${streamKey(key)}`
  const shift = async (statement: string, values: readonly unknown[]) => {
    const session = await admin.connect()
    try {
      await session.query('begin')
      await session.query("select set_config('ledger.writing', 'on', true)")
      await session.query(statement, [...values])
      await session.query('commit')
    } finally {
      session.release()
    }
  }
  return {
    async passTo({ item, atMs }: JudgedItem): Promise<void> {
      nowMs = Math.max(nowMs, atMs)
      const leaseUntilMs = leases.get(streamKey(item.stream))
      const asksLease = rules.declaration.steps.some(({ step, afterLease }) => step === item.step && afterLease)
      if (asksLease && leaseUntilMs !== undefined) {
        const isOver = leaseUntilMs <= nowMs
        await shift(
          `update ledger.streams set lease_until = now() ${isOver ? '-' : '+'} interval '1 hour' where id = $1`,
          [Buffer.from(item.stream)],
        )
      }
      for (const key of item.keys ?? [])
        if ((keys.get(keyName(key)) ?? Infinity) <= nowMs)
          await shift("update ledger.keys set until = now() - interval '1 hour' where space = $1 and key = $2", [
            key.space,
            Buffer.from(key.key),
          ])
    },
    note(item: Item, result: AppendResult): void {
      if (result.outcome !== 'appended') return
      const { recordedAtMs } = result
      leases.delete(streamKey(item.stream))
      if (item.leaseMs !== undefined) leases.set(streamKey(item.stream), recordedAtMs + item.leaseMs)
      for (const key of item.keys ?? []) keys.set(keyName(key), recordedAtMs + (key.lifetimeSeconds ?? Infinity) * 1000)
    },
  }
}

test.for([3])('the appends of seed %i get the same verdicts from Postgres (I1, I3, I17)', async (seed) => {
  const { serviceUrl, adminUrl } = await createTestDatabase()
  const [service, admin] = [openPool(serviceUrl, 1), openPool(adminUrl, 1)]
  const { judged, violations } = await simulate({ seed, rules })
  expect(violations).toEqual([])
  const timekeeper = createTimekeeper(admin)
  for (const [n, one] of judged.entries()) {
    await timekeeper.passTo(one)
    const [found] = await appendBatch(service, [one.item])
    expect(verdictOf(assertPresent(found, 'an item has a verdict')), `item ${n}: ${one.item.step}`).toBe(
      verdictOf(one.result),
    )
    timekeeper.note(one.item, one.result)
  }
  const last = assertPresent(judged.findLast(({ result }) => result.outcome === 'appended')?.item, 'a run appends')
  const bodies = (await readEvents(service, last.stream)).map(({ body }) => body.toString())
  expect(bodies.slice(-last.events.length)).toEqual(last.events.map(({ body }) => body.toString()))
  expect(await findBroken(admin)).toEqual([])
})
