import { z } from 'zod'
import { amount, flag } from './storedRows.ts'

/** The state of a stream after the events so far: a row in the audit's own state. */
export type AuditedStream = z.infer<typeof auditedStream>

const optionalText = z.string().nullable()

export const auditedStream = z.object({
  stream: z.string(),
  kind: z.string(),
  /** The state by name. '' before the first step. */
  state: z.string(),
  version: z.number(),
  firstPosition: z.number(),
  lastPosition: z.number(),
  /** Positions of the stream's events as ranges, in the form of a Postgres multirange: `{[3,6),[9,10)}`. */
  positions: z.string(),
  leaseUntilMs: z.number().nullable(),
  // Facts of a payment. Streams of other kinds have the empty values.
  wallet: z.string(),
  endpoint: z.string(),
  mint: z.string(),
  quoteId: optionalText,
  /** Digest of the price. */
  price: z.string(),
  shares: z.string(),
  requiredBaseUnits: amount,
  /** The burn that the price contains. The service owes it or the payer burned it. */
  burnBaseUnits: amount,
  /** Amount that the payer burned inside the payment. */
  burnedBaseUnits: amount,
  /** The burn in the service token that a payment in dollars owes, and its mint. '' if it owes none. */
  tokenBurnMint: z.string(),
  tokenBurnBaseUnits: amount,
  overpaidBaseUnits: amount,
  /** Price of an answer that was or is being delivered while the chain could still drop the payment. */
  exposedBaseUnits: amount,
  /** Time of the block in which the payment was verified, and the slot in which it was last found. */
  blockTimeMs: z.number(),
  slot: z.number(),
  attempt: z.number(),
  attemptId: z.string(),
  orderDigest: z.string(),
  leaseMs: z.number(),
  /** True if the payer sent the whole price, so that the service makes the burn. */
  isPaidWhole: flag,
  /** Price by use of a debit, as text. Null: the price is fixed. */
  metered: optionalText,
})

const noPayment = {
  wallet: '',
  endpoint: '',
  mint: '',
  quoteId: null,
  price: '',
  shares: '',
  requiredBaseUnits: 0n,
  burnBaseUnits: 0n,
  burnedBaseUnits: 0n,
  tokenBurnMint: '',
  tokenBurnBaseUnits: 0n,
  overpaidBaseUnits: 0n,
  exposedBaseUnits: 0n,
  blockTimeMs: 0,
  slot: 0,
  attempt: 0,
  attemptId: '',
  orderDigest: '',
  leaseMs: 0,
  isPaidWhole: false,
  metered: null,
}

export function newStream(stream: string, kind: string, firstPosition: number): AuditedStream {
  const place = { state: '', version: 0, firstPosition, lastPosition: 0, positions: '{}', leaseUntilMs: null }
  return { stream, kind, ...place, ...noPayment }
}

/** Adds the position of the stream's next event. */
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
