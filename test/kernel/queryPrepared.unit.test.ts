import pg from 'pg'
import { expect, test } from 'vitest'
import { judgeWriteFailure, type QueryRunner } from '@tollbook/ledger/database'
import { queryPrepared } from '@tollbook/ledger/queryPrepared'

/**
 * Runs a statement twice on a new connection, whose first attempt fails with this code. Returns the names that were
 * used.
 */
async function namesOf(code: string): Promise<readonly (string | undefined)[]> {
  const runner: QueryRunner = { query: () => Promise.reject(new Error('not used')) }
  const names: (string | undefined)[] = []
  const run = ({ name }: { readonly name?: string }) => {
    names.push(name)
    const failure = Object.assign(new pg.DatabaseError('it fails', 0, 'error'), { code })
    return names.length === 1 ? Promise.reject(failure) : Promise.resolve('done')
  }
  expect(await queryPrepared(runner, 'one', run)).toBe('done')
  expect(await queryPrepared(runner, 'two', run)).toBe('done')
  return names
}

test.each(['26000', '42P05'])('after the error %s of a pooler every statement is sent without a name', async (code) => {
  expect(await namesOf(code)).toEqual(['one', undefined, undefined])
})

test.each([
  ['unknown', ['08006', '57P01', '40003', 'XX000', undefined]],
  ['passing', ['40001', '40P01', '53300', '25006', '57014']],
  ['refused', ['22023', '23505', '44000', '54000', 'P0001', '21000']],
  ['undone', ['53100', '42883', '55P03', '58030']],
] as const)('a write that fails is %s by its code', (meaning, codes) => {
  for (const code of codes) {
    const error =
      code === undefined ? new Error('reset') : Object.assign(new pg.DatabaseError('', 0, 'error'), { code })
    expect(judgeWriteFailure(error), code).toBe(meaning)
  }
})

test('any other error is the error of the statement, which is sent only once', async () => {
  await expect(namesOf('53300')).rejects.toMatchObject({ code: '53300' })
})
