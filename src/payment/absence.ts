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

/** Number of blocks after its own block during which a blockhash is valid. */
export const blockhashValidBlocks = 150

/**
 * Minimum number of nodes that must deny a transaction of the service before another transaction sends or burns its
 * tokens. One node alone may hide a landed transaction, or report it as failed.
 */
export const denyingNodesMin = 2

export interface HeightReading {
  /** Name of the node, as in the log. */
  readonly node: string
  readonly finalizedHeight: number
}

export interface AbsenceReading extends HeightReading {
  readonly finalizedSlot: number
  /** Slot of the state in which the node searched its whole history. */
  readonly searchedSlot: number
  readonly isFound: boolean
}

/**
 * Readings of every node in rotation. They prove that no block can include the transaction any more, if each finalized
 * height is above the bound.
 */
export interface ExpiryEvidence {
  readonly bound: LandingBound
  readonly readings: readonly HeightReading[]
}

/**
 * Like `ExpiryEvidence`, with the result of each node's search. These readings may also prove that the transaction has
 * never landed.
 */
export interface AbsenceEvidence extends ExpiryEvidence {
  readonly signature: Signature
  readonly readings: readonly AbsenceReading[]
}

function isExpired({ bound, readings }: ExpiryEvidence): boolean {
  assert(bound.lastValidHeight > 0, 'a bound is a height')
  return readings.length > 0 && readings.every(({ finalizedHeight }) => finalizedHeight > bound.lastValidHeight)
}

/**
 * Evidence that a transaction has not landed and never will. Only `proveAbsence` creates it. Only this evidence permits
 * the refusal that tells a payer to make a new payment.
 */
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
 * Evidence that a transaction cannot land any more. It does not show whether the transaction has landed. A transaction
 * without its first signature has no id, so the ledger decides: without a record of its sending, it has not landed.
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

/** Returns the only refusal that permanently ends a payment which was never seen on chain. */
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
