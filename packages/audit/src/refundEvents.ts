import { type BodyReader } from './bodyReader.ts'
import { type EventHead, type EventReader, readTime } from './eventHead.ts'

/* Decisions of people about the refund of one payment. */

export interface ApprovedDebt {
  readonly account: string
  readonly baseUnits: bigint
}

interface Decision {
  /** The stream of the payment. */
  readonly payment: string
  readonly wallet: string
  readonly mint: string
}

export type RefundEvent = EventHead &
  Decision &
  (
    | { readonly kind: 'RefundApproved'; readonly debts: readonly ApprovedDebt[] }
    | { readonly kind: 'RefundGranted'; readonly amountBaseUnits: bigint }
  )

export const refundReaders: ReadonlyMap<string, EventReader<RefundEvent>> = new Map<string, EventReader<RefundEvent>>([
  ['RefundApproved', readApproved],
  ['RefundGranted', readGranted],
])

function readApproved(reader: BodyReader): RefundEvent {
  reader.string('{"by":')
  reader.literal(',"debts":[')
  const debts = reader.list(() => {
    const account = reader.plain('{"account":')
    const baseUnits = reader.amount(',"baseUnits":')
    reader.literal('}')
    return { account, baseUnits }
  })
  return { kind: 'RefundApproved', debts, ...readRest(reader, 'RefundApproved') }
}

function readGranted(reader: BodyReader): RefundEvent {
  const amountBaseUnits = reader.amount('{"amountBaseUnits":')
  reader.string(',"by":')
  return { kind: 'RefundGranted', amountBaseUnits, ...readRest(reader, 'RefundGranted') }
}

/** The decider and the reason move no money: the members have one spelling, and nothing in the ledger follows from them. */
function readRest(reader: BodyReader, kind: RefundEvent['kind']): EventHead & Decision {
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  reader.literal(`,"kind":"${kind}"`)
  reader.string(',"login":')
  const mint = reader.plain(',"mint":')
  const payment = reader.plain(',"payment":')
  reader.string(',"reason":')
  reader.plain(',"role":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const wallet = reader.plain(',"wallet":')
  return { effectiveAtMs, mint, payment, schemaVersion, stream, version, wallet }
}
