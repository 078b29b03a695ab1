import { z } from 'zod'
import { baseUnits } from './body.ts'
import { price } from './price.ts'

/** A settlement as the body of an event states it. */
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
  /** Number of the price list that it is a price of. Absent in the first releases. */
  priceList: z.int().optional(),
  quoteId: z.string().nullable(),
  receivedBaseUnits: baseUnits,
  /** The stream's own name. */
  reference: z.string(),
  wallet: z.string(),
})

export type AuditedSettlement = z.infer<typeof settlement>

/** Amount that has to arrive: all that is required, less the burn where the payer has burned it in the payment itself. */
export function dueOf(settlement: AuditedSettlement): bigint {
  const { requiredBaseUnits, burnBaseUnits } = settlement.price
  return isPaidWhole(settlement) ? requiredBaseUnits : requiredBaseUnits - burnBaseUnits
}

/** The payer sent the whole price and burned nothing: the service makes the burn. */
export function isPaidWhole({ price, burnedBaseUnits }: AuditedSettlement): boolean {
  return burnedBaseUnits < price.burnBaseUnits
}
