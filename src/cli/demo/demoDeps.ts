import { assertPresent } from '@tollbook/core/assert'
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
export interface Spent {
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
}

export function walletOf({ local }: DemoDeps) {
  return assertPresent(local.demoWallet, 'local mode has a demo wallet')
}

export function rpcUrlOf({ local }: DemoDeps): string {
  return assertPresent(local.rpcUrl, 'local mode has a chain')
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
