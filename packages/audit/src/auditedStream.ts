import { z } from 'zod'
import { amount, flag } from './storedRows.ts'

/** State of a stream after the events so far. It is stored as a row of the audit's state. */
export type AuditedStream = z.infer<typeof auditedStream>

const text = z.string().default('')
const count = z.number().default(0)
const sum = amount.default(0n)
const optionalText = z.string().nullable().default(null)

export const auditedStream = z.object({
  stream: z.string(),
  kind: z.string(),
  /** Name of the lifecycle state. '' before the first step. */
  state: text,
  version: count,
  firstPosition: z.number(),
  lastPosition: count,
  /** Positions of the stream's events as ranges, in the form of a Postgres multirange: `{[3,6),[9,10)}`. */
  positions: z.string().default('{}'),
  leaseUntilMs: z.number().nullable().default(null),
  // The following columns are facts of payments and debits. Other transactions have only `mint` and `slot`.
  wallet: text,
  endpoint: text,
  mint: text,
  quoteId: optionalText,
  /** SHA-256 digest of the price. */
  price: text,
  shares: text,
  requiredBaseUnits: sum,
  /** Burn that is part of the price. The payer burned it in the payment, or the service owes it. */
  burnBaseUnits: sum,
  /** Amount that the payer burned inside the payment. */
  burnedBaseUnits: sum,
  /** Mint of the burn that a payment in dollars owes in the service token. '' if it owes no burn. */
  tokenBurnMint: text,
  tokenBurnBaseUnits: sum,
  overpaidBaseUnits: sum,
  /**
   * Price of an answer that was started while the chain could still drop the payment. 0 if no answer was started, and
   * when the exposure has ended.
   */
  exposedBaseUnits: sum,
  /** Time of the block in which the payment was verified. For a debit, the time at which its last attempt took effect. */
  blockTimeMs: count,
  /** Slot in which the payment was verified. `slot` is the slot in which the transaction was last found. */
  verifiedSlot: count,
  slot: count,
  attempt: count,
  attemptId: text,
  orderDigest: text,
  leaseMs: count,
  /**
   * True if the payer did not burn the burn of the price, or if the price has no burn. The service then makes the burn,
   * if there is one.
   */
  isPaidWhole: flag.default(false),
  /** Metered price of a debit, as JSON text. Null: the price is fixed. */
  metered: optionalText,
})

export function newStream(stream: string, kind: string, firstPosition: number): AuditedStream {
  return auditedStream.parse({ stream, kind, firstPosition })
}

export function addPosition(row: AuditedStream, position: number): void {
  const range = `[${position},${position + 1})`
  const isNext = position === row.lastPosition + 1 && row.positions !== '{}'
  // Extend the last range, because Postgres writes adjacent ranges of a multirange as one.
  row.positions = isNext
    ? `${row.positions.slice(0, row.positions.lastIndexOf(',') + 1)}${position + 1})}`
    : `${row.positions.slice(0, -1)}${row.positions === '{}' ? '' : ','}${range}}`
  row.lastPosition = position
}

/** True if the payment is not final, so the chain may still drop it. */
export function awaitsFinality({ state }: AuditedStream): boolean {
  return !state.endsWith('.final')
}
