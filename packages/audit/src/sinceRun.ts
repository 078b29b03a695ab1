import { z } from 'zod'
import type { AuditState } from './auditState.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Findings } from './findings.ts'
import { PostingReplay } from './postingReplay.ts'
import type { EventHead, ReadEvent } from './kinds/auditedKind.ts'
import { isSettingEvent } from './kinds/setting.ts'
import { matchPostings } from './matchPostings.ts'
import type { RawEvent } from './rawEvent.ts'
import { Records } from './records.ts'
import type { SettingPeriods } from './settingPeriods.ts'
import type { StoredRows } from './storedRows.ts'

export interface SinceDeps {
  readonly state: AuditState
  readonly findings: Findings
  readonly checkpoints: Checkpoints
  readonly periods: SettingPeriods
}

const newestVersion = z.object({ stream: z.string(), version: z.number() })

/**
 * Checks the events after a checkpoint. Only the stored hashes of earlier events are read. They must have the root of
 * the checkpoint, which an earlier audit has checked.
 */
export class SinceRun {
  readonly records: Records
  readonly #deps: SinceDeps
  readonly #postings: PostingReplay
  readonly #versions: StoredRows<z.infer<typeof newestVersion>>
  /** Number of postings that were compared with their bodies. */
  postings = 0
  /** Kinds of events that this auditor does not know, each with the position of its first event. */
  readonly unknownKinds = new Map<string, number>()

  constructor(deps: SinceDeps) {
    const { findings, state } = deps
    this.#deps = deps
    this.records = new Records(findings, state)
    this.#postings = new PostingReplay(state)
    this.#versions = state.rows({ name: 'versions', key: 'stream', schema: newestVersion })
  }

  /** Adds the stored hash of the next event that the checkpoint covers. */
  addEarlierLeaf(leafHash: string): void {
    this.records.skip(leafHash)
    this.#deps.checkpoints.compare(this.records.tree, this.records.recordedAtMs)
  }

  /**
   * Adds a setting from before the checkpoint, because settings name the keys that may sign. Its leaf must have the
   * stored hash.
   */
  addEarlierSetting(raw: RawEvent): void {
    this.records.compareLeaf(raw)
    const read = this.records.read(raw)
    if (read !== undefined && isSettingEvent(read.event)) this.#deps.periods.record(read.event, raw)
  }

  apply(raw: RawEvent): void {
    const { state, periods, checkpoints } = this.#deps
    const { position, columns } = raw
    state.trim()
    const read = this.records.take(raw)
    if (read !== undefined) {
      const { event, kind } = read
      if (isSettingEvent(event)) periods.record(event, raw)
      this.#followVersion(event, position)
      if (columns !== undefined) this.records.compareColumns(event, columns, { position })
      if (kind !== undefined) this.#matchPostings(read, raw)
      else if (!this.unknownKinds.has(event.kind)) this.unknownKinds.set(event.kind, position)
    }
    checkpoints.compare(this.records.tree, raw.recordedAtMs)
  }

  #matchPostings({ event, mint, postings }: ReadEvent, { position, recordedAtMs, columns }: RawEvent): void {
    const place = { position, recordedAtMs, effectiveAtMs: event.effectiveAt }
    const entered = mint === undefined ? [] : this.#postings.enter(mint, place, postings())
    this.postings += entered.length
    if (columns !== undefined) matchPostings(columns.postings, entered, { position, findings: this.#deps.findings })
  }

  /**
   * Checks that versions of a stream are consecutive. The first version after the checkpoint may be any, because the
   * ones before it are not read.
   */
  #followVersion({ stream, version }: EventHead, position: number): void {
    const known = this.#versions.find(stream)
    const message = `version ${version} of ${stream} follows ${known?.version}`
    if (known !== undefined && version !== known.version + 1)
      this.#deps.findings.add('version_missing', { position, subject: `position ${position}`, message })
    if (known === undefined) this.#versions.add(stream, { stream, version })
    else known.version = version
  }
}
