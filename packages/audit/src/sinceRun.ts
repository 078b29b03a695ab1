import { type AuditedEvent, readEvent } from './auditedEvent.ts'
import { UnreadableBody } from './bodyReader.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Findings } from './findings.ts'
import { GrowingTree } from './growingTree.ts'
import { Journal } from './journal.ts'
import { matchPostings } from './matchPostings.ts'
import { mintOf, postingsOf } from './postings.ts'
import { type EventColumns, leafHashOf, type RawEvent } from './rawEvent.ts'
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

  constructor(deps: SinceDeps) {
    this.#deps = deps
  }

  /** Postings that were compared with their bodies. */
  get postings(): number {
    return this.#postings
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
    if (event?.kind === 'SettingChanged') this.#deps.periods.record(event, { position, recordedAtMs })
  }

  apply(raw: RawEvent): void {
    const { findings, checkpoints, periods } = this.#deps
    const { position, recordedAtMs, columns } = raw
    this.#placeInOrder(raw)
    this.tree.add(this.#compareLeaf(raw))
    const event = this.#read(raw)
    if (event !== undefined) {
      if (event.kind === 'SettingChanged') periods.record(event, { position, recordedAtMs })
      this.#followVersion(event, position)
      const mint = mintOf(event)
      const place = { position, recordedAtMs, effectiveAtMs: event.effectiveAtMs }
      const entered = mint === undefined ? [] : this.#journal.enter(mint, place, postingsOf(event))
      this.#postings += entered.length
      if (columns !== undefined) {
        matchPostings(columns.postings, entered, { position, findings })
        this.#compareColumns(event, columns, position)
      }
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

  #read({ bytes, bodyStart, bodyEnd, position }: RawEvent): AuditedEvent | undefined {
    try {
      return readEvent(bytes.toString('latin1', bodyStart, bodyEnd))
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      this.#blame('body_unreadable', position, error.message)
      return undefined
    }
  }

  /** The first version seen of a stream may be any: the ones before it are in the earlier part. */
  #followVersion({ stream, version }: AuditedEvent, position: number): void {
    const before = this.#versions.get(stream)
    if (before !== undefined && version !== before + 1)
      this.#blame('version_missing', position, `version ${version} of ${stream} follows ${before}`)
    this.#versions.set(stream, version)
  }

  #compareColumns(event: AuditedEvent, columns: EventColumns, position: number): void {
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
