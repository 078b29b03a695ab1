import { Fault } from '@tollbook/core/fault'
import { formatDecimal } from '@tollbook/core/money'
import type { Database } from '../../store/database.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import type { LocalJson } from '../localJson.ts'

export interface DemoDeps {
  readonly local: LocalJson
  readonly database: Database
  readonly products: readonly ProductFacts[]
  readonly say: (text: string) => void
}

/** The amount is the same whether the request was delivered or not, because an undelivered payment stays valid. */
export interface DemoSpending {
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
}

const decimals = 6

export function tokens(baseUnits: bigint): string {
  return formatDecimal(baseUnits, decimals)
}

export function expectThat(holds: boolean, expectation: string): void {
  if (!holds) throw new Fault(`the demo expected that ${expectation}`, { retryable: false })
}
