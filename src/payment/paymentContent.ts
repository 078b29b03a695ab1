import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from './settlement.ts'

export interface PaymentContent {
  readonly terms: PaymentTerms
  readonly payer: Address
  readonly memo: string
  /** An account that only identifies the payment. Nodes list the transactions that name it. */
  readonly reference: Address
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
  readonly blockhash: string
}
