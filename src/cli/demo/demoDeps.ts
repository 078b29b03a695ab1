import { Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import type { Database } from '../../store/database.ts'
import type { LocalJson } from '../localJson.ts'

export interface DemoDeps {
  readonly local: LocalJson
  readonly database: Database
  readonly say: (text: string) => void
}

/** The cost of one answer, delivered or not. */
export interface DemoSpending {
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
}

const decimals = 6

/** Whole tokens as a decimal text. */
export function tokens(baseUnits: bigint): string {
  return formatDecimal(baseUnits, decimals)
}

/** Ends the demo at the first expectation that does not hold. */
export function expectThat(holds: boolean, expectation: string): void {
  if (!holds) throw new Fault(`the demo expected that ${expectation}`, { retryable: false })
}
