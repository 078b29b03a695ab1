import { assert } from '@tollbook/core/assert'

export type FailureOutcome =
  | 'hang'
  | 'disconnect'
  /** HTTP 503 without a body, as from a proxy whose node is down. */
  | 'unavailable'
  /** HTTP 429, as from a provider at its rate limit. */
  | 'tooManyRequests'
  | { readonly code: number; readonly message: string }

/** A failure of the connection or of HTTP, without a JSON-RPC response. */
export type TransportFailure = Extract<FailureOutcome, string>

export interface RequestFailure {
  readonly method: string
  /** Number of the next calls to the method that fail. */
  readonly times: number
  readonly outcome: FailureOutcome
  /** True: the call takes effect, and only its answer is lost. */
  readonly afterEffect?: boolean
}

export class RequestWatch {
  #counts = new Map<string, number>()
  readonly #failures: { readonly rule: RequestFailure; left: number }[] = []

  /** Counts the call, and returns the failure that a test requested for it. Undefined: none was requested. */
  note(method: string): RequestFailure | undefined {
    if (method.startsWith('localnet_')) return undefined
    this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1)
    const index = this.#failures.findIndex(({ rule }) => rule.method === method)
    const found = this.#failures[index]
    if (found === undefined) return undefined
    found.left -= 1
    if (found.left === 0) this.#failures.splice(index, 1)
    return found.rule
  }

  counts(): ReadonlyMap<string, number> {
    return new Map(this.#counts)
  }

  forgetCounts(): void {
    this.#counts = new Map()
  }

  fail(rule: RequestFailure): void {
    assert(Number.isInteger(rule.times) && rule.times > 0, 'a rule is for at least one call')
    this.#failures.push({ rule, left: rule.times })
  }
}
