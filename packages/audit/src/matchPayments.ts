import { base58Of } from './base58Text.ts'
import { CopyRow } from './copyRow.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { type AuditedPayment, none, phaseNumber, phases } from './paymentTable.ts'
import type { Replay } from './replay.ts'

const columns =
  'signature, version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at'

interface PaymentRow {
  readonly stream: string
  readonly version: number
  readonly state: string
  readonly wallet: string
  readonly endpoint: string
  readonly attempt: number
  readonly leaseUntilMs: number | undefined
  readonly quoteId: string | undefined
  readonly positions: readonly number[]
  readonly createdAtMs: number | undefined
  readonly updatedAtMs: number | undefined
  /** Undefined in a book of before payments were followed to finality. */
  readonly finality: { readonly awaits: boolean; readonly exposed: bigint } | undefined
}

/** The registry that makes a payment single-use, row for row against the lives that the events tell. */
export async function matchPayments(replay: Replay, source: DatabaseSource): Promise<void> {
  const reader = new CopyRow()
  const hasFinality = await source.hasTable('ledger.exposure')
  const query = `select ${columns}${hasFinality ? ', awaiting_finality, exposed' : ''} from ledger.payments`
  for await (const { bytes, starts, count } of source.copy(query)) {
    for (let index = 0; index < count; index++) {
      reader.open(bytes, starts[index] ?? 0)
      matchRow(replay, readRow(reader, hasFinality))
    }
  }
  let exposure = 0n
  for (let index = 0; index < replay.payments.count; index++) {
    const payment = replay.payments.read(index)
    exposure += exposedBy(payment)
    if (payment.seen) continue
    const message = 'the payment of this event has no row: its proof could be used again'
    replay.findings.add('payment_row_missing', { position: payment.lastPosition, subject: 'payments', message })
  }
  if (hasFinality) await matchExposure(replay, source, exposure)
}

async function matchExposure({ findings, position }: Replay, source: DatabaseSource, right: bigint): Promise<void> {
  const rows = await source.rows<{ amount: string }>('select amount from ledger.exposure')
  const stated = rows.map(({ amount }) => amount).join()
  if (stated === right.toString()) return
  const message = `${stated || 'nothing'} is stored as what the chain could still drop, the events give ${right}`
  findings.add('exposure_differs', { position, subject: 'exposure', message })
}

/** The price of what was, or is being, served for a payment that the chain may still drop. */
function exposedBy({ awaitsFinality, phase, requiredBaseUnits }: AuditedPayment): bigint {
  const isServed = phase === phaseNumber('claimed') || phase === phaseNumber('fulfilled')
  return awaitsFinality && isServed ? requiredBaseUnits : 0n
}

function readRow(reader: CopyRow, hasFinality: boolean): PaymentRow {
  return {
    stream: base58Of(reader.blob()),
    version: reader.int32(),
    state: reader.latin1(),
    wallet: reader.latin1(),
    endpoint: reader.text() ?? '',
    attempt: reader.int32(),
    leaseUntilMs: reader.timeMs(),
    quoteId: reader.text(),
    positions: reader.int64s(),
    createdAtMs: reader.timeMs(),
    updatedAtMs: reader.timeMs(),
    finality: hasFinality ? { awaits: reader.boolean(), exposed: reader.numeric() } : undefined,
  }
}

function matchRow({ payments, streams, digest, names, findings }: Replay, row: PaymentRow): void {
  const index = payments.find(digest.pairOf(row.stream))
  if (index === undefined) {
    const message = 'there is a row, and no event of such a payment'
    findings.add('payment_row_unexpected', { position: row.positions[0], subject: row.stream, message })
    return
  }
  const payment = payments.read(index)
  payment.seen = true
  payments.write(index, payment)
  const isOwn = (position: number): boolean => streams.get(position) === index + 1
  const quoteDigest = row.quoteId === undefined ? none : digest.of(row.quoteId)
  const differing = [
    row.version !== payment.version && `version ${row.version}, not ${payment.version}`,
    row.state !== phases[payment.phase] && `state ${row.state}, not ${phases[payment.phase]}`,
    row.attempt !== payment.attempt && `attempt ${row.attempt}, not ${payment.attempt}`,
    digest.of(row.wallet) !== payment.walletDigest && `wallet ${row.wallet}`,
    row.endpoint !== names.nameOf(payment.endpoint) && `endpoint ${row.endpoint}`,
    quoteDigest !== payment.quoteDigest && `quote ${row.quoteId}`,
    (row.leaseUntilMs ?? none) !== payment.leaseUntilMs && 'another end of the lease',
    row.createdAtMs !== payment.createdAtMs && 'another time of its first event',
    row.finality !== undefined &&
      row.finality.awaits !== payment.awaitsFinality &&
      `finality ${row.finality.awaits ? 'awaited' : 'settled'}`,
    row.finality !== undefined && row.finality.exposed !== exposedBy(payment) && `exposed ${row.finality.exposed}`,
    row.updatedAtMs !== payment.updatedAtMs && 'another time of its last event',
    !arePositionsOf(row.positions, payment.version, isOwn) && 'other positions of its events',
  ].filter((difference) => difference !== false)
  if (differing.length === 0) return
  const message = `the row has ${differing.join('; ')}`
  // An event that the row names and the book does not have, or else the last one that it has.
  const position = row.positions.find((named) => !isOwn(named)) ?? payment.lastPosition
  findings.add('payment_row_differs', { position, subject: row.stream, message })
}

/** As many as the payment has events, ascending, and each of them an event of it. */
function arePositionsOf(positions: readonly number[], count: number, isOwn: (position: number) => boolean): boolean {
  return (
    positions.length === count &&
    positions.every((position, index) => isOwn(position) && position > (positions[index - 1] ?? 0))
  )
}
