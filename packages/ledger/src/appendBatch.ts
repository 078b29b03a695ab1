import pg from 'pg'
import { assert, assertPresent, Bug } from '@tollbook/core/assert'
import type { QueryRunner } from './database.ts'
import { appendCall, appendValues } from './batch.ts'
import type { KnownHistory } from './history.ts'
import { type AppendResult, type Item, plainRefusals, refused } from './item.ts'
import { queryPrepared } from './queryPrepared.ts'

/** Appends a batch in one call. The query fails if the database does not continue the known history. */
export async function appendBatch(
  runner: QueryRunner,
  batch: readonly Item[],
  known?: KnownHistory,
): Promise<readonly AppendResult[]> {
  const { name, text } = appendCall
  const values = appendValues(batch, known)
  const { rows } = await queryPrepared(runner, name, (statement) =>
    runner.query<AppendRow>({ ...statement, text, values, rowMode: 'array', types: numbers }),
  )
  return resultsOf(assertPresent(rows[0], 'an append returns one row'), batch)
}

type AppendRow = [
  recordedAtMs: number,
  firstPosition: number,
  refusals: (string | null)[] | null,
  leafHashes: string | null,
]

const numbers: pg.CustomTypesConfig = {
  getTypeParser: (type) => (type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type)),
}

const leafHexLength = 64

function resultsOf([recordedAtMs, firstPosition, refusals, leafHashes]: AppendRow, batch: readonly Item[]) {
  assert(firstPosition > 0, 'positions count from 1')
  assert(refusals === null || refusals.length === batch.length, 'an append judges each item')
  let position = firstPosition
  let at = 0
  return batch.map(({ events }, index): AppendResult => {
    const refusal = refusals?.[index] ?? undefined
    if (refusal !== undefined) return refusedAs(refusal)
    const hex = assertPresent(leafHashes, 'an append returns its leaf hashes')
    const leaves = events.map(() => {
      const leafHash = hex.slice(at, at + leafHexLength)
      assert(leafHash.length === leafHexLength, 'an append returns a leaf hash per event')
      at += leafHexLength
      return { position: position++, leafHash }
    })
    return { outcome: 'appended', recordedAtMs, leaves }
  })
}

const limitMark = 'limit '

function refusedAs(refusal: string): AppendResult {
  if (refusal.startsWith(limitMark))
    return { outcome: 'refused', refusal: { reason: 'limit', account: refusal.slice(limitMark.length) } }
  const reason = plainRefusals.find((known) => known === refusal)
  if (reason === undefined) throw new Bug(`expected that the ledger refuses by a known reason, not ${refusal}`)
  return refused(reason)
}
