import { type AuditedSplit, readSplit } from './auditedSplit.ts'
import { type BodyReader } from './bodyReader.ts'
import { type EventHead, type EventReader, readTime } from './eventHead.ts'
import { type AuditedPrice, readPrice } from './priceReader.ts'

/* Price lists and settings of the ledger, one stream for each version. */

export type PriceListEvent = EventHead & {
  readonly kind: 'PriceListPublished'
  readonly split: AuditedSplit
  readonly prices: readonly AuditedPrice[]
}

export type SettingEvent = EventHead & {
  readonly kind: 'SettingChanged'
  readonly name: string
  readonly number: number
  readonly validFromMs: number
  /** Its canonical text: no rule of the audit depends on it. */
  readonly value: string
}

export const priceListReaders: ReadonlyMap<string, EventReader<PriceListEvent>> = new Map([
  ['PriceListPublished', readPublished],
])

export const settingReaders: ReadonlyMap<string, EventReader<SettingEvent>> = new Map([['SettingChanged', readChanged]])

function readPublished(reader: BodyReader): PriceListEvent {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  if (reader.takes(',"evidence":')) skipEvidence(reader)
  reader.literal(',"kind":"PriceListPublished","prices":[')
  const prices = reader.list(() => readPrice(reader))
  const schemaVersion = reader.integer(',"schemaVersion":')
  reader.string(',"source":')
  const split = readSplit(reader, ',"split":')
  const stream = reader.plain(',"stream":')
  const version = reader.integer(',"version":')
  return { kind: 'PriceListPublished', stream, version, effectiveAtMs, schemaVersion, split, prices }
}

/** The reports of the markets move no money: they have one spelling, and nothing in the ledger follows from them. */
function skipEvidence(reader: BodyReader): void {
  reader.integer('{"agreedAtMs":')
  reader.literal(',"readings":[')
  reader.list(() => {
    reader.optionalString('{"liquidityUsd":')
    reader.string(',"source":')
    reader.string(',"tokenPriceAttoUsd":')
    reader.literal('}')
  })
  reader.literal(',"silent":[')
  reader.list(() => {
    reader.string('{"source":')
    reader.string(',"why":')
    reader.literal('}')
  })
  reader.string(',"tokenPriceAttoUsd":')
  reader.literal('}')
}

function readChanged(reader: BodyReader): SettingEvent {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const name = reader.string(',"kind":"SettingChanged","name":')
  const number = reader.integer(',"number":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  const stream = reader.plain(',"stream":')
  const validFromMs = readTime(reader, ',"validFrom":')
  const value = reader.canonicalValue(',"value":')
  const version = reader.integer(',"version":')
  return { kind: 'SettingChanged', stream, version, effectiveAtMs, schemaVersion, name, number, validFromMs, value }
}
