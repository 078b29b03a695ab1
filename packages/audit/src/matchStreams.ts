import { CopyRow } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { OtherStream } from './otherStreams.ts'
import { type AuditedPayment, noValue, stateOf } from './paymentTable.ts'
import type { Replay } from './replay.ts'
import { streamOfId } from './streamName.ts'
import { unknownStreamMark } from './unknownKinds.ts'

/* The streams' rows, whose primary key makes a payment single-use, against the streams that the events give. */

const streamsQuery = 'select id, stream, kind, state, version, lease_until, seqs from ledger.streams'

interface StreamRow {
  readonly id: Buffer
  readonly firstPosition: number
  readonly kind: string
  readonly state: string
  readonly version: number
  readonly leaseUntilMs: number
  /** From and behind to, in turn. */
  readonly ranges: readonly number[]
}

/** The row as it must be. */
interface DerivedStream {
  readonly firstPosition: number
  readonly kind: string
  readonly state: string
  readonly version: number
  readonly leaseUntilMs: number
  readonly lastPosition: number
  /** Another row of the same stream was read before: the key that makes a payment single-use is gone. */
  readonly hasRow: boolean
  readonly isOwn: (position: number) => boolean
}

/** Compares the rows of streams with the replay, in both directions. */
export async function matchStreams(replay: Replay, source: DatabaseSource): Promise<void> {
  const reader = new CopyRow()
  const seen = new Set<OtherStream>()
  const unknown = replay.unknownKinds.firstPositions()
  const unknownSeen = new Set<number>()
  for await (const { bytes, starts, count } of source.copy(streamsQuery)) {
    for (let index = 0; index < count; index++) {
      reader.open(bytes, starts[index] ?? 0)
      const row = readRow(reader)
      if (!unknown.has(row.firstPosition)) matchRow(replay, row, seen)
      else if (unknownSeen.has(row.firstPosition)) blameUnknown(replay, row, 'the stream has two rows')
      else matchUnknown(replay, row)
      unknownSeen.add(row.firstPosition)
    }
  }
  for (let index = 0; index < replay.payments.count; index++) {
    const payment = replay.payments.read(index)
    if (payment.seen) continue
    const message = 'the payment of this event has no row: its proof could be used again'
    replay.findings.add('stream_missing', { position: payment.lastPosition, subject: 'payment', message })
  }
  for (const position of unknown) {
    if (unknownSeen.has(position)) continue
    const message = 'the stream of this event has no row: it could be recorded again'
    replay.findings.add('stream_missing', { position, subject: `position ${position}`, message })
  }
  for (const other of replay.otherStreams.all()) {
    if (seen.has(other)) continue
    const message = `the ${other.kind} of this event has no row: it could be recorded again`
    replay.findings.add('stream_missing', { position: other.positions.at(-1), subject: other.stream, message })
  }
}

/** Of a kind that is not known, only that the row has events of such streams. */
function matchUnknown(replay: Replay, row: StreamRow): void {
  let count = 0
  for (const position of positionsOf(row.ranges)) {
    count++
    if (count > row.version || replay.streams.get(position) !== unknownStreamMark) break
  }
  if (count !== row.version) blameUnknown(replay, row, 'the row has other positions of its events')
}

function blameUnknown({ findings }: Replay, { firstPosition }: StreamRow, message: string): void {
  findings.add('stream_differs', { position: firstPosition, subject: `position ${firstPosition}`, message })
}

function readRow(reader: CopyRow): StreamRow {
  return {
    id: reader.blob(),
    firstPosition: reader.int64(),
    kind: reader.latin1(),
    state: reader.latin1(),
    version: reader.int32(),
    leaseUntilMs: reader.timeMs() ?? noValue,
    ranges: reader.int64Ranges(),
  }
}

// The table allows 256.
const idBytesShown = 256

function matchRow(replay: Replay, row: StreamRow, seen: Set<OtherStream>): void {
  const stream = streamOfId(row.id)
  const derived = stream === undefined ? undefined : derive(replay, stream, seen)
  const subject = stream ?? `id ${row.id.subarray(0, idBytesShown).toString('hex')}`
  if (derived === undefined) {
    const message = 'there is a row, and no event of such a stream'
    replay.findings.add('stream_unexpected', { position: row.ranges[0], subject, message })
    return
  }
  const differing = differencesOf(row, derived)
  if (differing.length === 0) return
  // An event that the row names and the stream does not have, or else the last one that it has.
  const position = positionsOf(row.ranges).find((position) => !derived.isOwn(position)) ?? derived.lastPosition
  replay.findings.add('stream_differs', { position, subject, message: `the row has ${differing.join('; ')}` })
}

function derive(replay: Replay, stream: string, seen: Set<OtherStream>): DerivedStream | undefined {
  const { payments, streams, digest, otherStreams } = replay
  const index = payments.find(digest.pairOf(stream))
  if (index !== undefined) {
    const payment = payments.read(index)
    const hasRow = payment.seen
    payment.seen = true
    payments.write(index, payment)
    return { ...ofPayment(payment, (position) => streams.get(position) === index + 1), hasRow }
  }
  const other = otherStreams.find(stream)
  if (other === undefined) return undefined
  const hasRow = seen.has(other)
  seen.add(other)
  const { kind, state, version, positions } = other
  const [firstPosition = noValue, lastPosition = noValue] = [positions[0], positions.at(-1)]
  const isOwn = (position: number): boolean => positions.includes(position)
  return { kind, state, version, firstPosition, lastPosition, leaseUntilMs: noValue, hasRow, isOwn }
}

function ofPayment(payment: AuditedPayment, isOwn: (position: number) => boolean): Omit<DerivedStream, 'hasRow'> {
  const { version, firstPosition, lastPosition, leaseUntilMs } = payment
  return { kind: 'payment', state: stateOf(payment), version, firstPosition, lastPosition, leaseUntilMs, isOwn }
}

function differencesOf(row: StreamRow, derived: DerivedStream): readonly string[] {
  return [
    derived.hasRow && 'two rows',
    row.kind !== derived.kind && `kind ${row.kind}, not ${derived.kind}`,
    row.state !== derived.state && `state ${row.state}, not ${derived.state}`,
    row.version !== derived.version && `version ${row.version}, not ${derived.version}`,
    row.firstPosition !== derived.firstPosition &&
      `its first event at ${row.firstPosition}, not ${derived.firstPosition}`,
    row.leaseUntilMs !== derived.leaseUntilMs && 'another end of the lease',
    !arePositionsOf(row.ranges, derived) && 'other positions of its events',
  ].filter((difference) => difference !== false)
}

/** Whether the positions ascend, are as many as the stream has events, and each belongs to the stream. */
function arePositionsOf(ranges: readonly number[], { version, isOwn }: DerivedStream): boolean {
  let count = 0
  let last = 0
  for (const position of positionsOf(ranges)) {
    if (position <= last || !isOwn(position)) return false
    last = position
    count++
    if (count > version) return false
  }
  return count === version
}

function* positionsOf(ranges: readonly number[]): Generator<number> {
  for (let at = 0; at < ranges.length; at += 2) {
    const behind = ranges[at + 1] ?? 0
    for (let position = ranges[at] ?? 0; position < behind; position++) yield position
  }
}
