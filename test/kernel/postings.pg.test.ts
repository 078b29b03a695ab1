import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openPool } from './openKernel.ts'

const { adminUrl } = await createTestDatabase()
const admin = openPool(adminUrl, 1)

/** Inserts an event as the function of the ledger would, and takes it back. Returns the constraint that refused it. */
async function insertPostings(debits: string, credits: string, amounts: string): Promise<string | undefined> {
  await admin.query("begin; select set_config('ledger.writing', 'on', true)")
  try {
    await admin.query(`
      insert into ledger.events (
        seq, stream, version, kind, schema_version, recorded_at, effective_at, debits, credits, amounts, body, leaf_hash)
      values (1, 1, 1, 'TokensBurned', 1, now(), now(), ${debits}, ${credits}, ${amounts}, '{}', sha256(''))`)
    return undefined
  } catch (error) {
    return error instanceof Error && 'constraint' in error ? String(error.constraint) : String(error)
  } finally {
    await admin.query('rollback')
  }
}

describe('the table takes no event whose postings are not whole (I17)', () => {
  test.each([
    ['both sides', "'{1}'", "'{2}'", "'{5}'"],
    ['none at all', 'null', 'null', 'null'],
  ])('takes %s', async (_what, debits, credits, amounts) => {
    expect(await insertPostings(debits, credits, amounts)).toBeUndefined()
  })

  test.each([
    ['no debits', 'null', "'{2}'", "'{5}'"],
    ['no credits', "'{1}'", 'null', "'{5}'"],
    ['no amounts', "'{1}'", "'{2}'", 'null'],
    ['amounts alone', 'null', 'null', "'{5}'"],
    ['a missing account', "'{null}'", "'{2}'", "'{5}'"],
    ['a missing amount', "'{1}'", "'{2}'", "'{null}'"],
    ['a credit too few', "'{1,1}'", "'{2}'", "'{5,5}'"],
    ['an amount of zero', "'{1}'", "'{2}'", "'{0}'"],
    ['a negative amount', "'{1,1}'", "'{2,2}'", "'{5,-5}'"],
  ])('refuses %s', async (_what, debits, credits, amounts) => {
    expect(await insertPostings(debits, credits, amounts)).toMatch(/^events_postings_/)
  })
})
