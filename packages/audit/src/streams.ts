import { addPosition, type AuditedStream, auditedStream, newStream } from './auditedStream.ts'
import { type AuditState, StateDocument } from './auditState.ts'
import type { DeclaredKind, DeclaredStep } from './declaredKind.ts'
import type { FindingCode, Findings } from './findings.ts'
import type { StoredRows } from './storedRows.ts'

interface StreamEvent {
  readonly kind: string
  readonly stream: string
  readonly version: number
}

interface Place {
  readonly position: number
  readonly recordedAtMs: number
}

/** Events of one append so far. Its steps are those of the kind that begin with them in the state before. */
interface OpenAppend extends Place {
  readonly stream: string
  readonly from: string
  readonly events: string[]
  position: number
  /** The events are a whole step, which may still go on. */
  isWhole: boolean
}

const openAppend = new StateDocument('openAppend', (): { append: OpenAppend | undefined } => ({ append: undefined }))

/** Marks the kind of a stream that begins with an event of no known kind. */
export const unknownMark = '?'

/**
 * Every stream, followed again from its first event by the steps that its kind declares. An event that could not have happened
 * is a finding, and the stream goes on from what the ledger says, so that one error is not reported a hundred times.
 */
export class Streams {
  readonly #findings: Findings
  readonly #state: AuditState
  readonly #rows: StoredRows<AuditedStream>
  readonly #open: ReturnType<(typeof openAppend)['of']>
  readonly #begun = new Map<string, readonly DeclaredStep[]>()

  constructor(findings: Findings, state: AuditState) {
    this.#findings = findings
    this.#state = state
    this.#rows = state.rows({ name: 'streams', key: 'stream', schema: auditedStream })
    this.#open = openAppend.of(state)
    state.execute(`create index if not exists streams_by_quote on streams (quoteId) where quoteId is not null;
      create index if not exists unknown_streams on streams (firstPosition) where kind like '${unknownMark}%'`)
  }

  find(stream: string): AuditedStream | undefined {
    return this.#rows.find(stream)
  }

  /** Number of payments so far. */
  payments(): number {
    const [row] = this.#state.select(`select count(*) as payments from streams where kind = 'payment'`)
    return Number(row?.['payments'])
  }

  selectByQuote(): (quoteId: string) => readonly AuditedStream[] {
    return this.#rows.selectBy('quoteId')
  }

  /** The stream with one more event: a known one, or a new one of this kind. Only place and version are judged. */
  enter({ stream, version }: StreamEvent, known: AuditedStream | string, { position }: Place): AuditedStream {
    const row = typeof known === 'string' ? this.#rows.add(stream, newStream(stream, known, position)) : known
    const follows = `version ${version} of the stream follows ${row.version}`
    if (version > row.version + 1) this.#blame('version_missing', position, { stream, message: follows })
    if (version <= row.version) this.#blame('lifecycle_impossible', position, { stream, message: follows })
    row.version = version
    addPosition(row, position)
    return row
  }

  /** The event as a part of a step. Called before its own rules, which see the state before the append. */
  begin(event: StreamEvent, row: AuditedStream, { kind, place }: { kind: DeclaredKind; place: Place }): void {
    const { append } = this.#open
    const { position, recordedAtMs } = place
    const isTogether = position === (append?.position ?? 0) + 1 && recordedAtMs === append?.recordedAtMs
    const mayContinue = append?.stream === row.stream && (isTogether || !append.isWhole)
    const steps = mayContinue ? this.#stepsOf(kind, append, row) : []
    if (append !== undefined && steps.some(({ events }) => events[append.events.length] === event.kind)) {
      const message = `it was not recorded together with ${append.events.at(-1)}`
      if (!isTogether) this.#blame('append_incomplete', position, { stream: row.stream, message })
      append.events.push(event.kind)
      append.position = position
      return
    }
    this.settle()
    const first = { stream: row.stream, from: row.state, events: [event.kind], position, recordedAtMs, isWhole: false }
    const beginning = this.#stepsOf(kind, first, row)
    if (!beginning.some(({ from }) => from === row.state)) {
      const message = `${event.kind} of a ${kind.kind} that is ${row.state || 'new'}`
      this.#blame('lifecycle_impossible', position, { stream: row.stream, message })
    }
    // An event that begins no step has been found already.
    if (beginning.length > 0) this.#open.append = first
  }

  /** Takes the step when the event was its last one. */
  end(row: AuditedStream, kind: DeclaredKind): void {
    const { append } = this.#open
    if (append === undefined) return
    const whole = this.#stepsOf(kind, append, row).find(({ events }) => events.length === append.events.length)
    append.isWhole = whole !== undefined
    if (whole !== undefined) row.state = whole.to
  }

  /** An event of another append comes, or the end: an append that is not a whole step lacks events. */
  settle(): void {
    const { append } = this.#open
    this.#open.append = undefined
    if (append === undefined || append.isWhole) return
    const message = `an event that has to follow ${append.events.at(-1)} is missing`
    this.#blame('append_incomplete', append.position, { stream: append.stream, message })
  }

  /** Called after an event that could not be read: it may have been a part of the append. */
  overlook(): void {
    this.#open.append = undefined
  }

  /** Steps that begin with the events: those from the state before, or any where the first event is impossible in it. */
  #stepsOf(kind: DeclaredKind, { from, events }: OpenAppend, row: AuditedStream): readonly DeclaredStep[] {
    const key = `${kind.kind} ${from} ${events.join()}`
    const begun = this.#begun.get(key) ?? stepsFrom(kind, from, events)
    this.#begun.set(key, begun)
    return begun.filter(({ when }) => when?.(row) !== false)
  }

  #blame(code: FindingCode, position: number, { stream: subject, message }: { stream: string; message: string }): void {
    this.#findings.add(code, { position, subject, message })
  }
}

function stepsFrom({ steps }: DeclaredKind, from: string, begun: readonly string[]): readonly DeclaredStep[] {
  const beginning = steps.filter(({ events }) => events[0] === begun[0])
  const possible = beginning.filter((step) => step.from === from)
  return (possible.length > 0 ? possible : beginning).filter(({ events }) => {
    return begun.every((name, index) => events[index] === name)
  })
}
