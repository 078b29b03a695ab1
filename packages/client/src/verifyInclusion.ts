import { z } from 'zod'
import { type Checkpoint, openCheckpoint, readCheckpoint } from '@tollbook/core/checkpoint'
import { rootFromInclusion } from '@tollbook/core/merkle'
import { assertPresent } from '@tollbook/core/assert'
import { readBase64 } from '@tollbook/core/base64'
import { equalBytes, fromBase64Url, fromHex } from '@tollbook/core/bytes'
import { plainData } from './plainData.ts'
import { type KeyWithId, readKeys } from './serviceKeys.ts'
import { type ReceiptProblem, type ReceiptQuestion, type VerifiedReceipt, verifyReceipt } from './verifyReceipt.ts'

export interface InclusionQuestion extends ReceiptQuestion {
  /** Answer of `/api/ledger/inclusion/<receipt.ledger.position>`, or its `data`, from any source. */
  readonly proof: unknown
  /** Name of the log, if the caller has it. Absent: any log that the key signed is accepted. A service has one log. */
  readonly expectedOrigin?: string
}

export type InclusionProblem =
  | ReceiptProblem
  | 'proof_malformed'
  /** The checkpoint is not signed by a given key that was still valid when the receipt was issued. */
  | 'checkpoint_unsigned'
  | 'other_log'
  | 'other_event'
  /** The path does not lead from the receipt to the root of the checkpoint. */
  | 'path_invalid'

export type InclusionVerdict =
  | { readonly valid: true; readonly receipt: VerifiedReceipt; readonly checkpoint: Checkpoint }
  | { readonly valid: false; readonly problem: InclusionProblem; readonly message: string }

/**
 * Checks that the ledger of a signed checkpoint contains the fulfilment event of a receipt. Needs only the public key
 * of the service. Makes no request, and never throws.
 *
 * @example
 *   import { verifyInclusion } from '@tollbook/client'
 *
 *   export async function positionOf(receipt: unknown, proof: unknown, keys: unknown): Promise<number> {
 *     const verdict = await verifyInclusion({ receipt, proof, keys, expectedOrigin: 'service.example/ledger' })
 *     if (!verdict.valid) throw new Error(`${verdict.problem}: ${verdict.message}`)
 *     return verdict.receipt.ledger.position
 *   }
 */
export async function verifyInclusion(question: InclusionQuestion): Promise<InclusionVerdict> {
  const verdict = await verifyReceipt(question)
  if (!verdict.valid) return verdict
  const { receipt } = verdict
  const proof = readProof(question.proof)
  if (proof === undefined) return invalid('proof_malformed', 'it is not an inclusion proof of this service')
  // Omit keys that had expired at `issuedAt`, because the event was recorded at that time, and every tree with the
  // event was signed later.
  const keys = ((await readKeys(question.keys)) ?? []).filter(
    ({ exp = Infinity }) => Date.parse(receipt.issuedAt) < exp * 1000,
  )
  const checkpoint = openWithKeys(proof.checkpoint, keys)
  if (checkpoint === undefined)
    return invalid('checkpoint_unsigned', 'its checkpoint is not signed with the key of the service')
  const { expectedOrigin } = question
  if (expectedOrigin !== undefined && checkpoint.origin !== expectedOrigin)
    return invalid('other_log', `it is of the log ${checkpoint.origin}, and ${expectedOrigin} is expected`)
  if (proof.position !== receipt.ledger.position)
    return invalid('other_event', `it is of event ${proof.position}, and the receipt of ${receipt.ledger.position}`)
  // Use the leaf hash of the signed receipt. The leaf and root that the proof states are not needed.
  const leaf = assertPresent(fromHex(receipt.ledger.leafHash), 'a verified receipt has a hash in hex')
  const { size } = checkpoint
  const root = rootFromInclusion({ index: proof.position - 1, size, leaf, path: proof.path })
  return root !== undefined && equalBytes(root, checkpoint.root)
    ? { valid: true, receipt, checkpoint }
    : invalid('path_invalid', `its path does not lead from the receipt to the root of the ${size} events`)
}

function invalid(problem: InclusionProblem, message: string): InclusionVerdict {
  return { valid: false, problem, message }
}

// Maximum hashes in a path. A tree of 2^53 leaves has paths of 53 hashes.
const pathMax = 64

const proofBody = z.object({
  position: z.int().min(1),
  path: z.array(z.string()).max(pathMax),
  checkpoint: z.string(),
})
const proofAnswer = z.union([z.object({ data: proofBody }).transform(({ data }) => data), proofBody])

function readProof(value: unknown) {
  const { data } = proofAnswer.safeParse(plainData(value))
  const path = data?.path.map((hash) => readBase64(hash, 32)).filter((hash) => hash !== undefined)
  return data === undefined || path?.length !== data.path.length ? undefined : { ...data, path }
}

/**
 * Returns the checkpoint if one of the keys signed it. The name of the log is read from the note, because the signature
 * covers it.
 */
export function openWithKeys(note: string, keys: readonly KeyWithId[]): Checkpoint | undefined {
  const name = readCheckpoint(note)?.origin
  if (name === undefined) return undefined
  return keys
    .map(({ x }) => fromBase64Url(x))
    .filter((publicKey) => publicKey !== undefined)
    .map((publicKey) => openCheckpoint(note, { name, publicKey }))
    .find((checkpoint) => checkpoint !== undefined)
}
