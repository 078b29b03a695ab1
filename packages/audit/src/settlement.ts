import { z } from 'zod'
import { baseUnits } from './body.ts'
import { price } from './price.ts'

export const settlement = z.strictObject({
  burnedBaseUnits: baseUnits,
  evidence: z.strictObject({
    kind: z.literal('solana'),
    slot: z.int(),
    blockTimeMs: z.int(),
    transactionBase64: z.string().nullable(),
  }),
  memo: z.string().nullable(),
  price,
  /** Number of the price list with this price. Absent in events of the first releases. */
  priceList: z.int().optional(),
  quoteId: z.string().nullable(),
  receivedBaseUnits: baseUnits,
  /** The name of the payment's own stream. */
  reference: z.string(),
  wallet: z.string(),
})

export type AuditedSettlement = z.infer<typeof settlement>

/** Amount that must arrive: the required amount, less the burn if the payer burned it in the payment. */
export function dueOf(settlement: AuditedSettlement): bigint {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  return isPaidWhole(settlement) ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}

/**
 * Returns whether the payer sent the whole price and burned nothing, so that the service makes the burn. A dollar never
 * burns.
 */
export function isPaidWhole({ price, burnedBaseUnits }: AuditedSettlement): boolean {
  return price.burnBaseUnits === 0n || burnedBaseUnits < price.burnBaseUnits
}
