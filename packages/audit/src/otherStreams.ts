import type { EventHead } from './eventHead.ts'
import type { Findings } from './findings.ts'
import type { Recorded } from './paymentRules.ts'

/** A stream of a kind that has few streams: a price list, a setting, a payout, a burn. */
export interface OtherStream {
  readonly stream: string
  readonly kind: string
  state: string
  version: number
  readonly positions: number[]
}

/**
 * The streams that are not payments, by name. There are few of them: one payout settles the debts of thousands of payments.
 * They are numbered downwards from the top, so that their numbers never meet those of payments.
 */
export class OtherStreams {
  readonly #findings: Findings
  readonly #all: OtherStream[]
  readonly #byName: Map<string, number>

  constructor(findings: Findings, state: readonly OtherStream[] = []) {
    this.#findings = findings
    this.#all = state.map((stream) => ({ ...stream, positions: [...stream.positions] }))
    this.#byName = new Map(this.#all.map(({ stream }, index) => [stream, index]))
  }

  find(stream: string): OtherStream | undefined {
    const index = this.#byName.get(stream)
    return index === undefined ? undefined : this.#all[index]
  }

  all(): readonly OtherStream[] {
    return this.#all
  }

  /** The stream after one more event, which has to be the next one of it and begin in one of these states. */
  advance({ stream, version }: EventHead, recorded: Recorded, step: OtherStep): OtherStream {
    const { kind, from, to } = step
    const blame = (code: 'version_missing' | 'lifecycle_impossible', message: string): void => {
      this.#findings.add(code, { position: recorded.position, subject: stream, message })
    }
    const known = this.find(stream) ?? this.#open(stream, kind)
    if (known.kind !== kind) blame('lifecycle_impossible', `the stream is a ${known.kind} already`)
    else if (known.state !== from)
      blame('lifecycle_impossible', `a ${kind} that is ${known.state || 'new'} cannot be ${to}`)
    if (version > known.version + 1) {
      blame('version_missing', `version ${version} of the stream follows ${known.version}`)
    } else if (version <= known.version) {
      blame('lifecycle_impossible', `version ${version} of the stream comes again after ${known.version}`)
    }
    known.state = to
    known.version = version
    known.positions.push(recorded.position)
    return known
  }

  #open(stream: string, kind: string): OtherStream {
    const opened = { stream, kind, state: '', version: 0, positions: [] }
    this.#byName.set(stream, this.#all.length)
    this.#all.push(opened)
    return opened
  }
}

interface OtherStep {
  readonly kind: string
  /** '' for a stream that does not exist yet. */
  readonly from: string
  readonly to: string
}
