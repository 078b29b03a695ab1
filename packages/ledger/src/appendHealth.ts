import type { Clock } from '@tollbook/core/clock'
import { codeText, describeError } from '@tollbook/core/fault'
import type { QueryRunner } from './appendBatch.ts'
import { appendCall, appendParameters } from './batch.ts'
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
  readonly pool: QueryRunner
  readonly clock: Pick<Clock, 'monotonicMs'>
}

// Two rounds of the health job. Then appends are tried again, because a closed service would never learn that they work.
const failingForMs = 10_000

/** A failed append counts for `failingForMs`; otherwise the database is asked to plan one. */
export function createAppendHealth({ kernel, pool, clock }: AppendHealthDeps): AppendHealth {
  let failure: { readonly error: unknown; readonly atMs: number } | undefined
  return {
    kernel: {
      ...kernel,
      async append(item) {
        try {
          const result = await kernel.append(item)
          failure = undefined
          return result
        } catch (error) {
          failure = { error, atMs: clock.monotonicMs() }
          throw error
        }
      },
    },
    async findProblem() {
      if (failure !== undefined && clock.monotonicMs() - failure.atMs < failingForMs)
        return `the ledger takes no appends${codeText(failure.error)}`
      return probe(pool)
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
