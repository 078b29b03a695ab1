import { assert } from '@tollbook/core/assert'
import { createBatchQueue } from '@tollbook/ledger/batchQueue'
import type { QueryRunner } from '@tollbook/ledger/database'
import { queryPrepared } from '@tollbook/ledger/queryPrepared'
import { prepaidOn } from '../accounting/account.ts'
import type { Tab } from '../payment/tab.ts'
import { readOrFault } from './database.ts'

/** Resolves to the balance in base units. Rejects with a retryable `Fault` while the ledger does not answer. */
export type ReadBalance = (tab: Pick<Tab, 'id' | 'mint'>) => Promise<bigint>

interface Question {
  readonly mint: string
  readonly name: string
  /** Unique key of the question, because one statement may contain several questions about the same tab. */
  readonly number: number
}

// The same limits as for lookups of streams (packages/ledger/src/readQueue.ts).
const batchMax = 64
const flushesMax = 2
const waitingMax = 10_000

/**
 * Creates a reader that combines concurrent questions into one statement. Each answer on a tab states a balance, and
 * the answers of one append arrive together. With a statement for each balance, the balances took six of the seven
 * statements of a debit at 64 callers. A balance includes everything that was committed before its question.
 */
export function createBalanceReader(pool: QueryRunner): ReadBalance {
  let questions = 0
  const queue = createBatchQueue<Question, bigint>({
    batchMax,
    flushesMax,
    waitingMax,
    keyOf: ({ number }) => String(number),
    flush: async (batch) => {
      const balances = await readBalances(pool, batch)
      return batch.map((question) => ({ status: 'fulfilled', value: balances.get(accountKey(question)) ?? 0n }))
    },
  })
  return ({ id, mint }) => queue.submit({ mint, name: prepaidOn(id), number: questions++ })
}

const accountKey = ({ mint, name }: Pick<Question, 'mint' | 'name'>) => `${mint} ${name}`

const selectBalances =
  'select mint, name, (-balance)::text as balance from ledger.accounts where mint = any($1) and name = any($2)'

async function readBalances(pool: QueryRunner, batch: readonly Question[]): Promise<ReadonlyMap<string, bigint>> {
  const distinct = (texts: readonly string[]) => [...new Set(texts)]
  const values = [distinct(batch.map(({ mint }) => mint)), distinct(batch.map(({ name }) => name))]
  const { rows } = await readOrFault('the balances of tabs', () =>
    queryPrepared(pool, 'tab_balances', (statement) =>
      pool.query<{ mint: string; name: string; balance: string }>({ ...statement, text: selectBalances, values }),
    ),
  )
  const balances = new Map(rows.map((row) => [accountKey(row), BigInt(row.balance)]))
  assert(
    [...balances.values()].every((balance) => balance >= 0n),
    'a tab is never overdrawn',
  )
  return balances
}
