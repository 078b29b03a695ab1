import type { BodyReader } from './bodyReader.ts'
import { type EventHead, type EventReader, readTime } from './eventHead.ts'

/* Plans that divide a debt among the holders of the token. */

export type HolderPayoutEvent = EventHead & { readonly planId: string; readonly mint: string } & (
    | ({ readonly kind: 'HolderPayoutPlanned' } & HolderTerms)
    | { readonly kind: 'HolderPayoutEnded'; readonly paidBaseUnits: bigint }
  )

export interface HolderTerms {
  readonly account: string
  readonly amountBaseUnits: bigint
  readonly snapshotSha256: string
  readonly snapshotSlot: number
  readonly excluded: readonly string[]
  readonly minimumBaseUnits: bigint
  readonly openAccountsMax: number
  readonly lines: number
  readonly parts: number
}

export const holderPayoutReaders: ReadonlyMap<string, EventReader<HolderPayoutEvent>> = new Map<
  string,
  EventReader<HolderPayoutEvent>
>([
  ['HolderPayoutPlanned', readPlanned],
  ['HolderPayoutEnded', readEnded],
])

function readPlanned(reader: BodyReader): HolderPayoutEvent {
  const account = reader.plain('{"account":')
  const amountBaseUnits = reader.amount(',"amountBaseUnits":')
  const effectiveAtMs = readTime(reader, ',"effectiveAt":')
  reader.literal(',"excluded":[')
  const excluded = reader.list(() => reader.plain(''))
  const lines = reader.integer(',"kind":"HolderPayoutPlanned","lines":')
  const minimumBaseUnits = reader.amount(',"minimumBaseUnits":')
  const mint = reader.plain(',"mint":')
  const openAccountsMax = reader.integer(',"openAccountsMax":')
  const parts = reader.integer(',"parts":')
  const planId = reader.string(',"planId":')
  const schemaVersion = reader.integer(',"rule":"pro-rata-1","schemaVersion":')
  const snapshotSha256 = reader.string(',"snapshotSha256":')
  const snapshotSlot = reader.integer(',"snapshotSlot":')
  const head = { ...readEnd(reader), effectiveAtMs, schemaVersion }
  const terms = { account, amountBaseUnits, snapshotSha256, snapshotSlot, excluded, minimumBaseUnits, openAccountsMax }
  return { kind: 'HolderPayoutPlanned', ...head, planId, mint, ...terms, lines, parts }
}

function readEnded(reader: BodyReader): HolderPayoutEvent {
  const effectiveAtMs = readTime(reader, '{"effectiveAt":')
  const mint = reader.plain(',"kind":"HolderPayoutEnded","mint":')
  const paidBaseUnits = reader.amount(',"paidBaseUnits":')
  const planId = reader.string(',"planId":')
  const schemaVersion = reader.integer(',"schemaVersion":')
  return { kind: 'HolderPayoutEnded', ...readEnd(reader), effectiveAtMs, schemaVersion, planId, mint, paidBaseUnits }
}

function readEnd(reader: BodyReader): Pick<EventHead, 'stream' | 'version'> {
  const stream = reader.string(',"stream":')
  const version = reader.integer(',"version":')
  return { stream, version }
}
