import { type AuditState, StateDocument } from './auditState.ts'
import { UnreadableBody } from './body.ts'
import type { Findings, FindingCode } from './findings.ts'
import { emptyTree, GrowingTree } from './growingTree.ts'
import { readEvent, type UnknownEvent } from './kinds.ts'
import type { EventHead, ReadEvent } from './kinds/auditedKind.ts'
import { type EventColumns, leafHashOf, type RawEvent } from './rawEvent.ts'

const progress = new StateDocument('progress', () => ({
  position: 0,
  recordedAtMs: -Infinity,
  lastLeaf: '',
  tree: emptyTree(),
}))

/** Checks the events as records: order, hashes, Merkle tree, canonical bodies, and the columns that repeat the bodies. */
export class Records {
  readonly tree: GrowingTree
  /** Finds the kind of a stream that already has events, because two kinds may share the name of an event. */
  kindOf: ((stream: string) => string | undefined) | undefined
  readonly #findings: Findings
  readonly #progress: ReturnType<(typeof progress)['of']>

  constructor(findings: Findings, state: AuditState) {
    this.#findings = findings
    this.#progress = progress.of(state)
    this.tree = new GrowingTree(this.#progress.tree)
  }

  /** Position of the last event that was read. 0 before the first event. */
  get position(): number {
    return this.#progress.position
  }

  get recordedAtMs(): number {
    return this.#progress.recordedAtMs
  }

  /** Stored leaf hash of the last event, with one character per byte. */
  get lastLeaf(): string {
    return this.#progress.lastLeaf
  }

  /** Checks the next event, adds it to the tree and parses it. Undefined if its body cannot be parsed. */
  take(raw: RawEvent): ReadEvent | UnknownEvent | undefined {
    this.#placeInOrder(raw)
    const leaf = leafHashOf(raw)
    if (leaf !== raw.leafHash)
      this.#blame('leaf_mismatch', raw.position, 'the stored hash is not that of position, time and body')
    this.tree.add(leaf)
    this.#progress.lastLeaf = raw.leafHash
    return this.#read(raw)
  }

  #read({ bytes, bodyStart, bodyEnd, position }: RawEvent): ReadEvent | UnknownEvent | undefined {
    try {
      return readEvent(bytes.subarray(bodyStart, bodyEnd), this.kindOf)
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      this.#blame('body_unreadable', position, error.message)
      return undefined
    }
  }

  /** Compares the columns that repeat the body. The column `stream` is the position of the stream's first event. */
  compareColumns(event: EventHead, columns: EventColumns, place: { position: number; firstPosition: number }): void {
    const { version, kind, schemaVersion, effectiveAt: effectiveAtMs, stream } = event
    const right = { version, kind, schemaVersion, effectiveAtMs, stream: place.firstPosition }
    for (const name of ['stream', 'version', 'kind', 'schemaVersion', 'effectiveAtMs'] as const) {
      if (columns[name] === right[name]) continue
      const message = `the column ${name} holds ${columns[name]}, and the event says ${right[name]}`
      this.#findings.add('column_differs', { position: place.position, subject: stream, message })
    }
  }

  #placeInOrder({ position, recordedAtMs }: RawEvent): void {
    const expected = this.position + 1
    if (position > expected) {
      const missing = position === expected + 1 ? `${expected} is` : `${expected} to ${position - 1} are`
      this.#blame('position_missing', expected, `position ${missing} not in the ledger`)
    } else if (position < expected) {
      this.#blame('position_missing', position, `position ${position} follows ${this.position}`)
    }
    if (recordedAtMs < this.recordedAtMs)
      this.#blame('recorded_out_of_order', position, 'it was recorded before the event in front of it')
    this.#progress.position = position
    this.#progress.recordedAtMs = recordedAtMs
  }

  #blame(code: FindingCode, position: number, message: string): void {
    this.#findings.add(code, { position, subject: `position ${position}`, message })
  }
}
