import { type BodyReader, UnreadableBody } from './bodyReader.ts'
import { type EventHead, type EventReader, readTime } from './eventHead.ts'

/* Tokens that leave the payment wallet: payouts, and burns that were owed. */

export interface PaidShare {
  readonly account: string
  readonly wallet: string
  readonly paidBaseUnits: bigint
}

export type PayoutEvent = EventHead & {
  readonly kind: 'DistributionPaid'
  readonly signature: string
  readonly planId: string
  readonly part: number
  readonly mint: string
  readonly slot: number
  readonly payments: readonly PaidShare[]
}

/** Part of a round that is burned for the answers of one endpoint. */
export interface EndpointBurn {
  readonly endpoint: string
  readonly baseUnits: bigint
}

export type BurnEvent = EventHead &
  (
    | {
        readonly kind: 'BurnSubmitted'
        readonly round: number
        readonly mint: string
        readonly throughPosition: number
        readonly burnBaseUnits: bigint
        readonly parts: readonly EndpointBurn[]
        readonly lastValidHeight: number | undefined
        readonly transactionBase64: string
      }
    | {
        readonly kind: 'BurnConfirmed'
        readonly round: number
        readonly mint: string
        readonly burnedBaseUnits: bigint
        readonly slot: number
        readonly parts: readonly EndpointBurn[]
      }
    | {
        readonly kind: 'BurnFailed'
        readonly round: number
        readonly mint: string
        readonly reason: string
        readonly finalizedSlot: number
      }
  )

export type BurnEventOf<K extends BurnEvent['kind']> = Extract<BurnEvent, { kind: K }>

export const payoutReaders: ReadonlyMap<string, EventReader<PayoutEvent>> = new Map([['DistributionPaid', readPaid]])

export const burnReaders: ReadonlyMap<string, EventReader<BurnEvent>> = new Map<string, EventReader<BurnEvent>>([
  ['BurnSubmitted', readBurnSubmitted],
  ['BurnConfirmed', readBurnConfirmed],
  ['BurnFailed', readBurnFailed],
])

function readPaid(reader: BodyReader): PayoutEvent {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"DistributionPaid","mint":')
  const part = reader.integer(',"part":')
  reader.literal(',"payments":[')
  const payments = reader.list(() => readPaidShare(reader))
  const planId = reader.string(',"planId":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const signature = reader.plain(',"signature":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const payout = { signature, planId, part, mint, slot, payments }
  return { kind: 'DistributionPaid', stream, version, effectiveAtMs, schemaVersion, ...payout }
}

function readPaidShare(reader: BodyReader): PaidShare {
  const account = reader.plain('{"account":')
  const paidBaseUnits = reader.amount(',"paidBaseUnits":')
  const wallet = reader.plain(',"wallet":')
  reader.literal('}')
  return { account, wallet, paidBaseUnits }
}

function readBurnSubmitted(reader: BodyReader): BurnEventOf<'BurnSubmitted'> {
  const burnBaseUnits = reader.amount('{"burnBaseUnits":')
  skipDelegate(reader)
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  reader.literal(',"kind":"BurnSubmitted"')
  const lastValidHeight = reader.takes(',"lastValidHeight":') ? reader.integer('') : undefined
  const mint = reader.plain(',"mint":')
  const parts = readEndpointBurns(reader)
  const round = reader.integer(',"round":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const throughPosition = reader.integer(',"throughPosition":')
  const transactionBase64 = reader.plain(',"transactionBase64":')
  const version = reader.integer(',"version":')
  const head = { stream, version, effectiveAtMs, schemaVersion }
  const burn = { round, mint, throughPosition, burnBaseUnits, parts, lastValidHeight, transactionBase64 }
  return { kind: 'BurnSubmitted', ...head, ...burn }
}

/** State of the delegate before the burn, with which the job proves an absence. Newer bodies have it; no check reads it. */
function skipDelegate(reader: BodyReader): void {
  if (!reader.takes(',"delegate":')) return
  reader.amount('{"allowanceBaseUnits":')
  reader.amount(',"lamports":')
  reader.literal('}')
}

function readBurnConfirmed(reader: BodyReader): BurnEventOf<'BurnConfirmed'> {
  const burnedBaseUnits = reader.amount('{"burnedBaseUnits":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  const mint = reader.plain(',"kind":"BurnConfirmed","mint":')
  const parts = readEndpointBurns(reader)
  const round = reader.integer(',"round":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const slot = reader.integer(',"slot":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  const head = { stream, version, effectiveAtMs, schemaVersion }
  return { kind: 'BurnConfirmed', ...head, round, mint, burnedBaseUnits, slot, parts }
}

function readBurnFailed(reader: BodyReader): BurnEventOf<'BurnFailed'> {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const finalizedSlot = reader.integer(',"finalizedSlot":')
  const mint = reader.plain(',"kind":"BurnFailed","mint":')
  const reason = reader.plain(',"reason":')
  if (reason !== 'absent' && reason !== 'failed') throw new UnreadableBody(`${reason} is not a reason of a failed burn`)
  const round = reader.integer(',"round":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  return { kind: 'BurnFailed', stream, version, effectiveAtMs, schemaVersion, round, mint, reason, finalizedSlot }
}

function readEndpointBurns(reader: BodyReader): readonly EndpointBurn[] {
  reader.literal(',"parts":[')
  return reader.list(() => {
    const baseUnits = reader.amount('{"baseUnits":')
    const endpoint = reader.string(',"endpoint":')
    reader.literal('}')
    return { endpoint, baseUnits }
  })
}
