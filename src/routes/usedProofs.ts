import { assert } from '@tollbook/core/assert'
import type { ProvenWallet } from './walletChallenge.ts'

/** Proofs that were used, until they expire. In memory: each instance accepts a proof once. */
export interface UsedProofs {
  /** False when the proof was used before, or when too many proofs are remembered. */
  use(proof: Pick<ProvenWallet, 'proof' | 'expiresAtMs'>, nowMs: number): boolean
}

// Six minutes of 100 statements a second; about 12 MB.
const proofsMax = 36_000

/**
 * False for a proof that was used and has not expired, and when the
 * memory is full: no entry is dropped before it expires.
 */
export function createUsedProofs(max = proofsMax): UsedProofs {
  assert(max > 0, 'a proof can be remembered')
  const used = new Map<string, number>()
  return {
    use({ proof, expiresAtMs }, nowMs) {
      if (used.has(proof)) return false
      if (used.size >= max) for (const [known, endsMs] of used) if (endsMs <= nowMs) used.delete(known)
      if (used.size >= max) return false
      used.set(proof, expiresAtMs)
      return true
    },
  }
}
