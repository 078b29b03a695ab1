import { z } from 'zod'
import { amount, flag } from './storedRows.ts'

/** The state of a stream after the events so far: a row in the audit's own state. */
export type AuditedStream = z.infer<typeof auditedStream>

const text = z.string().default('')
const count = z.number().default(0)
const sum = amount.default(0n)
const optionalText = z.string().nullable().default(null)

export const auditedStream = z.object({
  stream: z.string(),
  kind: z.string(),
  /** The state by name. '' before the first step. */
  state: text,
  version: count,
  firstPosition: z.number(),
  lastPosition: count,
  /** Positions of the stream's events as ranges, in the form of a Postgres multirange: `{[3,6),[9,10)}`. */
  positions: z.string().default('{}'),
  leaseUntilMs: z.number().nullable().default(null),
  // Facts of a payment. Streams of other kinds have the empty values.
  wallet: text,
  endpoint: text,
  mint: text,
  quoteId: optionalText,
  /** Digest of the price. */
  price: text,
  shares: text,
  requiredBaseUnits: sum,
  /** The burn that the price contains. The service owes it or the payer burned it. */
  burnBaseUnits: sum,
  /** Amount that the payer burned inside the payment. */
  burnedBaseUnits: sum,
  /** The burn in the service token that a payment in dollars owes, and its mint. '' if it owes none. */
  tokenBurnMint: text,
  tokenBurnBaseUnits: sum,
  overpaidBaseUnits: sum,
  /** Price of an answer that was or is being delivered while the chain could still drop the payment. */
  exposedBaseUnits: sum,
  /** Time of the block in which the payment was verified, and the slot in which it was last found. */
  blockTimeMs: count,
  slot: count,
  attempt: count,
  attemptId: text,
  orderDigest: text,
  leaseMs: count,
  /** True if the payer sent the whole price, so that the service makes the burn. */
  isPaidWhole: flag.default(false),
  /** Price by use of a debit, as text. Null: the price is fixed. */
  metered: optionalText,
})

export function newStream(stream: string, kind: string, firstPosition: number): AuditedStream {
  return auditedStream.parse({ stream, kind, firstPosition })
}

export function addPosition(row: AuditedStream, position: number): void {
  const range = `[${position},${position + 1})`
  const isNext = position === row.lastPosition + 1 && row.positions !== '{}'
  // Replace the end of the last range, which is the position after the previous event.
  row.positions = isNext
    ? `${row.positions.slice(0, row.positions.lastIndexOf(',') + 1)}${position + 1})}`
    : `${row.positions.slice(0, -1)}${row.positions === '{}' ? '' : ','}${range}}`
  row.lastPosition = position
}

/** Returns whether the chain may still drop the payment. */
export function awaitsFinality({ state }: AuditedStream): boolean {
  return !state.endsWith('.final')
}
