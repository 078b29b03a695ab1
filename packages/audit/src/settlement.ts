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
  /** Number of the price list that contains this price. Absent in events of the first releases. */
  priceList: z.int().optional(),
  quoteId: z.string().nullable(),
  receivedBaseUnits: baseUnits,
  /** Name of the payment's stream. */
  reference: z.string(),
  wallet: z.string(),
})

export type AuditedSettlement = z.infer<typeof settlement>

/** Returns the amount in base units that must arrive: the required amount, less the burn if the payer burned it. */
export function dueOf(settlement: AuditedSettlement): bigint {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  return isPaidWhole(settlement) ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}

/**
 * True if the payer sent the whole price, so that the service makes the burn. Always true for a price without a burn,
 * such as a price in dollars.
 */
export function isPaidWhole({ price, burnedBaseUnits }: AuditedSettlement): boolean {
  return price.burnBaseUnits === 0n || burnedBaseUnits < price.burnBaseUnits
}
