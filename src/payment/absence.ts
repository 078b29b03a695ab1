import { assert } from '@tollbook/core/assert'
import { invalidPaymentReasons, type Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'

/**
 * Upper bound of the block height at which a transaction can land. A transaction contains a recent blockhash, and lands
 * at most 150 blocks after the block of that hash. The bytes do not contain the height of that block, so the bound has
 * one of these bases:
 *
 * - `blockhash_accepted`: a node accepted the blockhash in a state of known height, so the block of the hash is not
 *   newer.
 * - `first_presentation`: the bytes existed at their first presentation, so the blockhash is not newer than the newest
 *   block at that moment. An allowance covers nodes that were behind that block.
 */
export interface LandingBound {
  readonly lastValidHeight: number
  readonly basis: 'blockhash_accepted' | 'first_presentation'
}

/** Fixed by Solana: a transaction can land within 150 blocks after the block of its blockhash, never later. */
export const blockhashValidBlocks = 150

/**
 * Minimum of nodes that must report an absence or a failure. One node alone may hide a landed transaction or report it
 * as failed, and a retry would then pay or burn twice.
 */
export const denyingNodesMin = 2

/** Nodes keep at least this many blocks. Only nodes with a longer history can show an absence from earlier blocks. */
export const historyBlocksMin = 10_000

export interface HeightReading {
  readonly node: string
  readonly finalizedHeight: number
}

export interface AbsenceReading extends HeightReading {
  readonly finalizedSlot: number
  /** A search in a state older than `finalizedSlot` would miss the blocks between. */
  readonly searchedSlot: number
  readonly isFound: boolean
}

/** The transaction can never land if the finalized height of each node in rotation is above the bound. */
export interface ExpiryEvidence {
  readonly bound: LandingBound
  readonly readings: readonly HeightReading[]
}

export interface AbsenceEvidence extends ExpiryEvidence {
  readonly signature: Signature
  readonly readings: readonly AbsenceReading[]
}

function isExpired({ bound, readings }: ExpiryEvidence): boolean {
  assert(bound.lastValidHeight > 0, 'a bound is a height')
  return readings.length > 0 && readings.every(({ finalizedHeight }) => finalizedHeight > bound.lastValidHeight)
}

/** The transaction has not landed and never will, so a payer may pay again. Only `prove` creates this evidence. */
export class ProvenAbsent {
  readonly kind = 'proven_absent'
  readonly #evidence: AbsenceEvidence

  private constructor(evidence: AbsenceEvidence) {
    this.#evidence = evidence
  }

  get evidence(): AbsenceEvidence {
    return this.#evidence
  }

  static prove(evidence: AbsenceEvidence): ProvenAbsent | undefined {
    const isUnseen = evidence.readings.every(
      ({ finalizedSlot, searchedSlot, isFound }) => searchedSlot >= finalizedSlot && !isFound,
    )
    return isExpired(evidence) && isUnseen ? new ProvenAbsent(evidence) : undefined
  }
}

/**
 * The transaction can no longer land, but may have landed before. Without its first signature it has no id, so the
 * ledger decides: without a record of its sending, it has not landed.
 */
export class ProvenExpired {
  readonly kind = 'proven_expired'
  readonly #evidence: ExpiryEvidence

  private constructor(evidence: ExpiryEvidence) {
    this.#evidence = evidence
  }

  get evidence(): ExpiryEvidence {
    return this.#evidence
  }

  static prove(evidence: ExpiryEvidence): ProvenExpired | undefined {
    return isExpired(evidence) ? new ProvenExpired(evidence) : undefined
  }
}

/** Creates the refusal of an absent payment. Requires proof, because a payer who reads this refusal may pay again. */
export function refuseAbsent({ evidence }: ProvenAbsent | ProvenExpired): Refusal {
  const { lastValidHeight } = evidence.bound
  const heights = evidence.readings.map(({ finalizedHeight }: HeightReading) => finalizedHeight)
  const details = `it could land up to block height ${lastValidHeight}; finalized height is ${Math.min(...heights)}`
  return {
    kind: 'refusal',
    code: 'INVALID_PAYMENT',
    reason: 'blockhash_expired',
    message: `${invalidPaymentReasons.blockhash_expired} (${details})`,
  }
}
