import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from './settlement.ts'

export interface PaymentContent {
  readonly terms: PaymentTerms
  readonly payer: Address
  readonly memo: string
  /** Account whose only purpose is to identify the payment. A node can list the transactions that contain this account. */
  readonly reference: Address
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
  readonly blockhash: string
}
