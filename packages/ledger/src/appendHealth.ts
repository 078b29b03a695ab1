import type pg from 'pg'
import { codeText, describeError, Fault } from '@tollbook/core/fault'
import { appendBatch } from './appendBatch.ts'
import { appendCall, appendParameters } from './batch.ts'
import type { QueryRunner } from './database.ts'
import type { Item } from './item.ts'
import type { LedgerKernel } from './port.ts'

interface AppendHealthDeps {
  readonly kernel: LedgerKernel
  readonly pool: QueryRunner & Pick<pg.Pool, 'connect'>
}

/**
 * Reports why the ledger takes no appends. Readiness depends on this, because a service that cannot append must not
 * receive requests. After a failed append the ledger counts as closed until a write works. While no append has failed,
 * each check only lets the database plan an append.
 */
export function createAppendHealth({ kernel, pool }: AppendHealthDeps) {
  let failed: Item | undefined
  const observed: LedgerKernel = {
    ...kernel,
    async append(item) {
      try {
        const result = await kernel.append(item)
        failed = undefined
        return result
      } catch (error) {
        // Ignore a rejection because of an item's content, because other items may still succeed.
        if (!(error instanceof Fault && !error.retryable)) failed = item
        throw error
      }
    },
  }
  return {
    kernel: observed,
    /** Undefined if no problem was found. A trial append is rolled back. */
    async findProblem(): Promise<string | undefined> {
      if (failed === undefined) return probe(pool)
      const problem = await rehearse(pool, failed)
      if (problem === undefined) failed = undefined
      return problem
    },
  }
}

/**
 * Plans the append without running it, which detects a missing function or a missing right before a payment does.
 * Undefined if the plan works.
 */
async function probe(pool: QueryRunner): Promise<string | undefined> {
  const values = Array.from({ length: appendParameters }, () => null)
  try {
    await pool.query({ text: `explain ${appendCall.text}`, values })
    return undefined
  } catch (error) {
    return `the ledger takes no appends of this release: ${describeError(error)}`
  }
}

/**
 * Writes the failed item and rolls it back. A plan or an empty commit would not detect a full disk. Undefined if the
 * write works.
 */
async function rehearse(pool: AppendHealthDeps['pool'], item: Item): Promise<string | undefined> {
  try {
    const connection = await pool.connect()
    try {
      await connection.query('begin')
      await appendBatch(connection, [item])
      await connection.query('rollback')
      connection.release()
      return undefined
    } catch (error) {
      // Close the connection, because that also ends its transaction.
      connection.release(true)
      throw error
    }
  } catch (error) {
    return `the ledger takes no appends${codeText(error)}`
  }
}
