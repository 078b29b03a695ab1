import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'

const { serviceUrl } = await createTestDatabase()
const instances = await Promise.all(Array.from({ length: 4 }, () => openInstance(serviceUrl)))
const reader = openSessions(serviceUrl)

const payments = 300

/** Follows the ledger as an exporter would: from the last position it saw, until it has seen them all. */
async function follow(total: number, page: number): Promise<readonly number[]> {
  const seen: number[] = []
  while (seen.length < total) {
    const { rows } = await reader.query<{ seq: number }>(
      'select seq::int from ledger.events where seq > $1 order by seq limit $2',
      [seen.at(-1) ?? 0, page],
    )
    seen.push(...rows.map(({ seq }) => seq))
  }
  return seen
}

test('I25: readers who remember only their last position see every event once while four instances append', async () => {
  const writers = Array.from({ length: payments }, (_, index) =>
    instances.slice(index % 4, (index % 4) + 1).map((ledger) => mustAppend(ledger, claimOf(sampleSettlement()).change)),
  )
  const readings = Promise.all([follow(payments * 3, 7), follow(payments * 3, 1000), follow(payments * 3, 64)])
  await Promise.all(writers.flat())
  for (const seen of await readings) {
    expect(seen).toEqual(Array.from({ length: payments * 3 }, (_, index) => index + 1))
  }
})
