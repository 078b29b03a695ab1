import { fileURLToPath } from 'node:url'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { appendBatch } from '@tollbook/ledger/appendBatch'
import { parseDeclaration, readDeclaration } from './declaration.ts'
import type { AppendResult, Item } from '@tollbook/ledger/item'
import { createMemoryLedger } from './memoryLedger.ts'
import { streamKey } from '@tollbook/ledger/readEvents'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { arbitraryItems, seeded } from './arbitraryItems.ts'
import { findBroken } from './checkLedger.ts'
import { openPool } from './openKernel.ts'
import { tabDeclaration } from './tab.ts'
import { sampleOf } from '../support/rounds.ts'

const kindsFolder = fileURLToPath(new URL('../../migrations/kinds', import.meta.url))
const business = await readDeclaration(kindsFolder)
const tab = parseDeclaration([tabDeclaration])
const declaration = {
  kinds: [...business.kinds, ...tab.kinds],
  steps: [...business.steps, ...tab.steps],
  classes: [...business.classes, ...tab.classes],
}

const batches = 120
const batchMax = 48

/** Differences between items of one batch: an item never sees an earlier one of the same batch. */
function isShadowed(batch: readonly Item[], index: number): boolean {
  const item = assertPresent(batch[index], 'the item is of the batch')
  const others = batch.slice(0, index)
  const touched = new Set(others.map(({ stream }) => streamKey(stream)))
  const keys = new Set(
    others.flatMap((other) => other.keys ?? []).map(({ space, key }) => `${space} ${streamKey(key)}`),
  )
  return (
    touched.has(streamKey(item.stream)) ||
    (item.guards ?? []).some(({ stream }) => touched.has(streamKey(stream))) ||
    (item.keys ?? []).some(({ space, key }) => keys.has(`${space} ${streamKey(key)}`))
  )
}

function verdictOf(result: AppendResult): string {
  if (result.outcome === 'appended') return 'appended'
  return result.refusal.reason === 'limit' ? `limit ${result.refusal.account}` : result.refusal.reason
}

test.for(sampleOf([7, 11, 12]))(
  'good and bad items in batches get the verdicts of the model, from seed %i (I1, I3, I17)',
  async (seed) => {
    const { serviceUrl, ownerUrl, adminUrl } = await createTestDatabase()
    await openPool(ownerUrl, 1).query(tabDeclaration)
    const pool = openPool(serviceUrl, 2)
    const random = seeded(seed)
    const memory = createMemoryLedger({ declaration, clock: systemClock })
    const next = arbitraryItems(random)
    const verdicts = new Map<string, number>()
    for (let round = 0; round < batches; round++) {
      const drawn = Array.from({ length: 1 + Math.floor(random() * batchMax) }, next)
      const batch = drawn.filter((_, index) => !isShadowed(drawn, index))
      const found = (await appendBatch(pool, batch)).map(verdictOf)
      const expected: string[] = []
      for (const item of batch) expected.push(verdictOf(await memory.append(item)))
      expect(found).toEqual(expected)
      for (const verdict of found)
        verdicts.set(verdict.split(' ')[0] ?? '', 1 + (verdicts.get(verdict.split(' ')[0] ?? '') ?? 0))
    }
    expect([...verdicts.keys()].sort()).toEqual(
      ['appended', 'conflict', 'guard', 'key_used', 'limit', 'not_this_id', 'not_this_step', 'overreaching'].sort(),
    )
    expect(await findBroken(openPool(adminUrl, 1))).toEqual([])
  },
)
