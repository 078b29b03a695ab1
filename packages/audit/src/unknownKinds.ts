import type { Findings } from './findings.ts'
import type { UnknownEvent } from './auditedEvent.ts'
import type { SaltedDigest } from './saltedDigest.ts'

/** Streams that begin with one kind of event that this auditor does not know. */
interface UnknownBeginning {
  readonly firstEvent: string
  readonly position: number
  streams: number
  events: number
}

/** A stream by the digest of its name: one that is not known may have as many streams as there are requests. */
interface UnknownStream {
  readonly beginning: number
  readonly firstPosition: number
  version: number
}

export interface UnknownKindsState {
  readonly beginnings: readonly UnknownBeginning[]
  readonly streams: readonly (readonly [digest: string, UnknownStream])[]
}

/** Marks an event of such a stream in the index of positions. */
export const unknownStreamMark = 0xffff_ffff

/**
 * Streams of kinds that this auditor does not know: their first event tells them apart. All of their events are hashed, counted
 * and posted as they are stored, and none is judged, so a kind of a newer release is never taken for a wrong payment.
 */
export class UnknownKinds {
  readonly #digest: SaltedDigest
  readonly #beginnings: UnknownBeginning[]
  readonly #streams: Map<string, UnknownStream>

  constructor(digest: SaltedDigest, state?: UnknownKindsState) {
    this.#digest = digest
    this.#beginnings = (state?.beginnings ?? []).map((beginning) => ({ ...beginning }))
    this.#streams = new Map((state?.streams ?? []).map(([name, stream]) => [name, { ...stream }]))
  }

  has(stream: string): boolean {
    return this.#streams.size > 0 && this.#streams.has(this.#keyOf(stream))
  }

  /** Begins a stream with an event that is not known. */
  open({ stream, kind }: UnknownEvent, position: number): void {
    const known = this.#beginnings.findIndex(({ firstEvent }) => firstEvent === kind)
    const beginning = known === -1 ? this.#beginnings.length : known
    if (known === -1) this.#beginnings.push({ firstEvent: kind, position, streams: 0, events: 0 })
    this.#streams.set(this.#keyOf(stream), { beginning, firstPosition: position, version: 0 })
    const counted = this.#beginnings[beginning]
    if (counted !== undefined) counted.streams++
  }

  /** Counts an event of a stream that was opened; gives the position of its first event and the version before. */
  advance({ stream, version }: { readonly stream: string; readonly version: number }): {
    readonly firstPosition: number
    readonly versionBefore: number
  } {
    const known = this.#streams.get(this.#keyOf(stream))
    if (known === undefined) return { firstPosition: 0, versionBefore: 0 }
    const versionBefore = known.version
    known.version = version
    const counted = this.#beginnings[known.beginning]
    if (counted !== undefined) counted.events++
    return { firstPosition: known.firstPosition, versionBefore }
  }

  firstPositions(): ReadonlySet<number> {
    return new Set([...this.#streams.values()].map(({ firstPosition }) => firstPosition))
  }

  /**
   * One finding for each kind. `declared`: the kinds of a database that are not known, with the events that begin their
   * streams.
   */
  report(findings: Findings, declared: ReadonlyMap<string, readonly string[]>): void {
    const left = new Set(this.#beginnings)
    for (const [kind, firstEvents] of declared) {
      const own = this.#beginnings.filter(({ firstEvent }) => firstEvents.includes(firstEvent))
      for (const beginning of own) left.delete(beginning)
      addFinding(findings, `kind ${kind}`, own)
    }
    for (const beginning of left) addFinding(findings, `streams that begin with ${beginning.firstEvent}`, [beginning])
  }

  state(): UnknownKindsState {
    return { beginnings: this.#beginnings, streams: [...this.#streams] }
  }

  #keyOf(stream: string): string {
    return this.#digest.pairOf(stream).join(' ')
  }
}

function addFinding(findings: Findings, subject: string, beginnings: readonly UnknownBeginning[]): void {
  const streams = beginnings.reduce((sum, beginning) => sum + beginning.streams, 0)
  const events = beginnings.reduce((sum, beginning) => sum + beginning.events, 0)
  const extent =
    streams === 0
      ? 'it has no stream'
      : `${streams} ${streams === 1 ? 'stream' : 'streams'} with ${events} events ${streams === 1 ? 'is' : 'are'} not judged`
  const position = beginnings[0]?.position
  findings.add('kind_unknown', { position, subject, message: `this auditor does not know the kind: ${extent}` })
}
