import { type AuditedEvent, readAnyEvent, type UnknownEvent } from './auditedEvent.ts'
import { UnreadableBody } from './bodyReader.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Findings } from './findings.ts'
import { GrowingTree } from './growingTree.ts'
import { Journal } from './journal.ts'
import { matchPostings } from './matchPostings.ts'
import { mintOf, postingsOf } from './postings.ts'
import { type EventColumns, leafHashOf, type RawEvent } from './rawEvent.ts'
import type { SettingEvent } from './settingEvents.ts'
import type { SettingPeriods } from './settingPeriods.ts'

export interface SinceDeps {
  readonly findings: Findings
  readonly checkpoints: Checkpoints
  readonly periods: SettingPeriods
}

/**
 * Events behind a checkpoint. Only the stored hashes of the events before it are read: they have to have the root of the
 * checkpoint, which an earlier audit has examined.
 */
export class SinceRun {
  readonly tree = new GrowingTree()
  readonly #deps: SinceDeps
  readonly #journal = new Journal()
  readonly #versions = new Map<string, number>()
  #recordedAtMs = -Infinity
  #postings = 0
  readonly #unknownKinds = new Map<string, number>()

  constructor(deps: SinceDeps) {
    this.#deps = deps
  }

  /** Postings that were compared with their bodies. */
  get postings(): number {
    return this.#postings
  }

  /** Kinds of events that this auditor does not know, with the position of the first one. */
  get unknownKinds(): ReadonlyMap<string, number> {
    return this.#unknownKinds
  }

  /** The stored hash of the next event before the checkpoint's end. */
  addEarlierLeaf(leafHash: string): void {
    this.tree.add(leafHash)
    this.#deps.checkpoints.compare(this.tree, this.#recordedAtMs)
  }

  /** A setting that was recorded before the checkpoint: it names the keys that may sign. Its hash has to be the stored one. */
  addEarlierSetting(raw: RawEvent): void {
    this.#compareLeaf(raw)
    const event = this.#read(raw)
    const { position, recordedAtMs } = raw
    if (isSetting(event)) this.#deps.periods.record(event, { position, recordedAtMs })
  }

  apply(raw: RawEvent): void {
    const { findings, checkpoints, periods } = this.#deps
    const { position, recordedAtMs, columns } = raw
    this.#placeInOrder(raw)
    this.tree.add(this.#compareLeaf(raw))
    const event = this.#read(raw)
    if (event !== undefined) {
      if (isSetting(event)) periods.record(event, { position, recordedAtMs })
      this.#followVersion(event, position)
      if (columns !== undefined) this.#compareColumns(event, columns, position)
      if ('isUnknown' in event && !this.#unknownKinds.has(event.kind)) this.#unknownKinds.set(event.kind, position)
    }
    if (event !== undefined && !('isUnknown' in event)) {
      const mint = mintOf(event)
      const place = { position, recordedAtMs, effectiveAtMs: event.effectiveAtMs }
      const entered = mint === undefined ? [] : this.#journal.enter(mint, place, postingsOf(event))
      this.#postings += entered.length
      if (columns !== undefined) matchPostings(columns.postings, entered, { position, findings })
    }
    checkpoints.compare(this.tree, recordedAtMs)
  }

  #compareLeaf(raw: RawEvent): string {
    const leaf = leafHashOf(raw)
    if (leaf !== raw.leafHash)
      this.#blame('leaf_mismatch', raw.position, 'the stored hash is not that of position, time and body')
    return leaf
  }

  #placeInOrder({ position, recordedAtMs }: RawEvent): void {
    const expected = this.tree.size + 1
    if (position !== expected) this.#blame('position_missing', expected, `position ${position} follows ${expected - 1}`)
    if (recordedAtMs < this.#recordedAtMs)
      this.#blame('recorded_out_of_order', position, 'it was recorded before the event in front of it')
    this.#recordedAtMs = recordedAtMs
  }

  #read({ bytes, bodyStart, bodyEnd, position }: RawEvent): AuditedEvent | UnknownEvent | undefined {
    try {
      return readAnyEvent(bytes.toString('latin1', bodyStart, bodyEnd))
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      this.#blame('body_unreadable', position, error.message)
      return undefined
    }
  }

  /** The first version seen of a stream may be any: the ones before it are in the earlier part. */
  #followVersion({ stream, version }: AuditedEvent | UnknownEvent, position: number): void {
    const before = this.#versions.get(stream)
    if (before !== undefined && version !== before + 1)
      this.#blame('version_missing', position, `version ${version} of ${stream} follows ${before}`)
    this.#versions.set(stream, version)
  }

  #compareColumns(event: AuditedEvent | UnknownEvent, columns: EventColumns, position: number): void {
    const { version, kind, schemaVersion, effectiveAtMs } = event
    const [found, right] = [
      [columns.version, columns.kind, columns.schemaVersion, columns.effectiveAtMs].join(),
      [version, kind, schemaVersion, effectiveAtMs].join(),
    ]
    if (found !== right) this.#blame('column_differs', position, `the columns hold ${found}, and the body ${right}`)
  }

  #blame(code: Parameters<Findings['add']>[0], position: number, message: string): void {
    this.#deps.findings.add(code, { position, subject: `position ${position}`, message })
  }
}

function isSetting(event: AuditedEvent | UnknownEvent | undefined): event is SettingEvent {
  return event !== undefined && !('isUnknown' in event) && event.kind === 'SettingChanged'
}
