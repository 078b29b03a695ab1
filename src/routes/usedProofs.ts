import { assert } from '@tollbook/core/assert'
import type { ProvenWallet } from './walletChallenge.ts'

export type UsedProofs = ReturnType<typeof createUsedProofs>

// Maximum number of proofs in memory. They are enough for 100 statements a second for six minutes.
const proofsMax = 36_000

/**
 * Creates the memory of used proofs. Each instance accepts a proof once. A proof is dropped only after it expires, so a
 * full memory refuses new proofs.
 */
export function createUsedProofs(max = proofsMax) {
  assert(max > 0, 'a proof can be remembered')
  const used = new Map<string, number>()
  return {
    /** Returns false if the proof was used before, or if the memory is full. */
    use({ proof, expiresAtMs }: Pick<ProvenWallet, 'proof' | 'expiresAtMs'>, nowMs: number): boolean {
      if (used.has(proof)) return false
      if (used.size >= max) for (const [known, endsMs] of used) if (endsMs <= nowMs) used.delete(known)
      if (used.size >= max) return false
      used.set(proof, expiresAtMs)
      return true
    },
  }
}
