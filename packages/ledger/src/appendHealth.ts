import type pg from 'pg'
import { codeText, describeError, Fault } from '@tollbook/core/fault'
import { appendBatch, type QueryRunner } from './appendBatch.ts'
import { appendCall, appendParameters } from './batch.ts'
import type { Item } from './item.ts'
import type { LedgerKernel } from './port.ts'

/** Why the ledger takes no appends, for readiness: a service that cannot append must not get requests. */
export interface AppendHealth {
  /** The same ledger, whose appends are watched. */
  readonly kernel: LedgerKernel
  /** Undefined while appends work, as far as is known without one. */
  findProblem(): Promise<string | undefined>
}

export interface AppendHealthDeps {
  readonly kernel: LedgerKernel
  readonly pool: QueryRunner & Pick<pg.Pool, 'connect'>
}

/** After a failed append the ledger counts as closed until a write works; otherwise the database is asked to plan an append. */
export function createAppendHealth({ kernel, pool }: AppendHealthDeps): AppendHealth {
  let failed: Item | undefined
  return {
    kernel: {
      ...kernel,
      async append(item) {
        try {
          const result = await kernel.append(item)
          failed = undefined
          return result
        } catch (error) {
          // A rejection for the content of an item does not show that others fail.
          if (!(error instanceof Fault && !error.retryable)) failed = item
          throw error
        }
      },
    },
    async findProblem() {
      if (failed === undefined) return probe(pool)
      const problem = await rehearse(pool, failed)
      if (problem === undefined) failed = undefined
      return problem
    },
  }
}

/** Plans the append without running it: a schema that no longer has this function, or this right, is found before a payment. */
async function probe(pool: QueryRunner): Promise<string | undefined> {
  const values = Array.from({ length: appendParameters }, () => null)
  try {
    await pool.query({ text: `explain ${appendCall.text}`, values })
    return undefined
  } catch (error) {
    return `the ledger takes no appends of this release: ${describeError(error)}`
  }
}

/** Writes the item that failed and rolls it back: a plan, or a commit of nothing, also works on a full disk. */
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
      // Closing the connection ends its transaction.
      connection.release(true)
      throw error
    }
  } catch (error) {
    return `the ledger takes no appends${codeText(error)}`
  }
}
