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

/** The events of one append so far. Its steps start in state `from` and begin with these events. */
interface OpenAppend extends Place {
  readonly stream: string
  readonly from: string
  readonly events: string[]
  position: number
  /** True if the events are a complete step. A longer step may still begin with the same events. */
  isWhole: boolean
}

const openAppend = new StateDocument('openAppend', (): { append: OpenAppend | undefined } => ({ append: undefined }))

/** Prefix of `kind` for a stream that begins with an unknown event. The name of this event follows. */
export const unknownMark = '?'

/**
 * Follows every stream from its first event, by the steps that its kind declares. After an impossible event, the stream
 * takes the state to which the event leads, so that one error does not cause many findings.
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

  payments(): number {
    const [row] = this.#state.select(`select count(*) as payments from streams where kind = 'payment'`)
    return Number(row?.['payments'])
  }

  selectByQuote(): (quoteId: string) => readonly AuditedStream[] {
    return this.#rows.selectBy('quoteId')
  }

  /** Adds an event to its stream. `known` is the stream, or the kind of a new stream. Checks only the version. */
  enter({ stream, version }: StreamEvent, known: AuditedStream | string, { position }: Place): AuditedStream {
    const row = typeof known === 'string' ? this.#rows.add(stream, newStream(stream, known, position)) : known
    const follows = `version ${version} of the stream follows ${row.version}`
    if (version > row.version + 1) this.#blame('version_missing', position, { stream, message: follows })
    if (version <= row.version) this.#blame('lifecycle_impossible', position, { stream, message: follows })
    row.version = version
    addPosition(row, position)
    return row
  }

  /** Adds the event to the open append or begins an append. Called before the event's rules. */
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
    // An event that begins no step does not open an append. It has been reported already.
    if (beginning.length > 0) this.#open.append = first
  }

  /** Changes the state of the stream if the event completes a step. Called after the rules of the event. */
  end(row: AuditedStream, kind: DeclaredKind): void {
    const { append } = this.#open
    if (append === undefined) return
    const whole = this.#stepsOf(kind, append, row).find(({ events }) => events.length === append.events.length)
    append.isWhole = whole !== undefined
    if (whole !== undefined) row.state = whole.to
  }

  /** Closes the open append and reports an incomplete step. Called before a new append and at the end. */
  settle(): void {
    const { append } = this.#open
    this.#open.append = undefined
    if (append === undefined || append.isWhole) return
    const message = `an event that has to follow ${append.events.at(-1)} is missing`
    this.#blame('append_incomplete', append.position, { stream: append.stream, message })
  }

  /** Drops the open append without a finding, because an unreadable event may have been a part of it. */
  overlook(): void {
    this.#open.append = undefined
  }

  /**
   * Returns the steps that begin with these events in the state `from`. If no step begins with the first event there,
   * returns the matching steps of all states.
   */
  #stepsOf(kind: DeclaredKind, { from, events }: OpenAppend, row: AuditedStream): readonly DeclaredStep[] {
    const key = `${kind.kind} ${from} ${events.join()}`
    // Cache the result, because a ledger has few steps and many events.
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
