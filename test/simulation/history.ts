import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'

/** One run of a product's handler. */
export interface HandlerRun {
  readonly run: number
  readonly signature: Signature | undefined
  readonly startedAtMs: number
}

/** A request with a proof, and what became of it. */
export interface Presentation {
  readonly signature: Signature
  readonly wallet: Address
  readonly orderDigest: string
  /** The payer of the transaction presents it for what was quoted, in the form that the payer chose. */
  readonly isHonest: boolean
  readonly presentedAtMs: number
}

/** An answer of the service, as it left it; `isReceived` unless the network lost it. */
export interface Reply extends Presentation {
  readonly repliedAtMs: number
  readonly status: number
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly body: string
  readonly isReceived: boolean
  readonly isStream: boolean
}

export interface History {
  readonly runs: HandlerRun[]
  readonly presentations: Presentation[]
  readonly replies: Reply[]
  /** Faults that were injected, by their name. */
  readonly faults: Map<string, number>
  /** Violated invariants, as sentences. */
  readonly violations: string[]
  /** Events of the run, for a replay; only written when it is asked for. */
  readonly trace: string[]
}

export function createHistory(): History {
  return { runs: [], presentations: [], replies: [], faults: new Map(), violations: [], trace: [] }
}

export function countFault({ faults }: History, name: string): void {
  faults.set(name, (faults.get(name) ?? 0) + 1)
}

const finalCodes: ReadonlySet<string> = new Set(['INVALID_PAYMENT', 'INSUFFICIENT_BALANCE'])

/** A refusal that a caller has to take for the end. `not_found` says itself that the same proof may be sent again. */
export function isFinalRefusal({ status, code, reason }: Pick<Reply, 'status' | 'code' | 'reason'>): boolean {
  return status === 402 && code !== undefined && finalCodes.has(code) && reason !== 'not_found'
}
