import { z } from 'zod'
import { isSignedBy, readCheckpoint, readVerifierKey as readAuditKey } from '@tollbook/audit/checkpointNote'
import { openCheckpoint, openNote, readVerifierKey } from '@tollbook/core/checkpoint'
import { leafHash } from '@tollbook/core/leaf'
import { equalBytes } from '@tollbook/core/bytes'
import { hashBytes, isConsistent, rootFromInclusion } from '@tollbook/core/merkle'
import { assertPresent } from '@tollbook/core/assert'
import { type Finding, look } from './finding.ts'

/*
 * The other direction: a log made by Go, its tree, its proofs and its signed notes, read by our verifiers. They must
 * accept them with the right content, and reject them with one bit altered.
 */

const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'))
const count = z.int().min(0)

export const foreignLog = z.object({
  verifierKey: z.string(),
  witnessKey: z.string(),
  signingSeed: bytes,
  trees: z.array(z.object({ size: count, root: bytes, note: z.string() })),
  inclusions: z.array(z.object({ index: count, size: count, entry: bytes, path: z.array(bytes) })),
  consistencies: z.array(z.object({ from: count, to: count, path: z.array(bytes) })),
})

export type ForeignLog = z.infer<typeof foreignLog>
type Inclusion = ForeignLog['inclusions'][number]
type Consistency = ForeignLog['consistencies'][number]

export function checkForeignLog(log: ForeignLog): readonly Finding[] {
  const { trees, inclusions, consistencies } = log
  const verifier = assertPresent(readVerifierKey(log.verifierKey), 'the verifier key of Go')
  const witness = assertPresent(readVerifierKey(log.witnessKey), 'the verifier key of the witness')
  const auditKey = assertPresent(readAuditKey(log.verifierKey), 'the verifier key, as the audit reads it')
  const roots = new Map(trees.map(({ size, root }) => [size, root]))
  const rootAt = (size: number) => assertPresent(roots.get(size), 'each size of a proof has a tree')
  const proves = (claim: Inclusion) => {
    const root = rootFromInclusion({ ...claim, leaf: leafOf(claim) })
    return root !== undefined && equalBytes(root, rootAt(claim.size))
  }
  const agrees = ({ from, to, path }: Consistency) =>
    isConsistent({ earlier: { size: from, root: rootAt(from) }, later: { size: to, root: rootAt(to) }, path })

  return [
    look('notes of Go with a signature of a witness, opened by the service’s and the audit’s reader', trees, (tree) => {
      const opened = openCheckpoint(tree.note, verifier)
      const isRight = opened?.size === tree.size && equalBytes(opened.root, tree.root)
      const isWitnessed = openNote(tree.note, witness) !== undefined
      const audited = readCheckpoint(tree.note)
      const isAudited = audited?.size === tree.size && audited.root.equals(tree.root) && isSignedBy(audited, [auditKey])
      return isRight && isWitnessed && isAudited ? undefined : `size ${tree.size}`
    }),
    look('inclusion proofs of Go, by rootFromInclusion', inclusions, (claim) =>
      proves(claim) ? undefined : `leaf ${claim.index} of ${claim.size}`,
    ),
    look('consistency proofs of Go, by isConsistent', consistencies, (claim) =>
      agrees(claim) ? undefined : `${claim.from} to ${claim.to}`,
    ),
    look('bits of a note of Go flipped, each refused', bitsOf(trees[0]?.note ?? ''), (note) =>
      openCheckpoint(note, verifier) === undefined ? undefined : JSON.stringify(note),
    ),
    look(
      'inclusion proofs of Go with a bit flipped in path or entry, a hash less or more, refused',
      inclusions.flatMap(spoilInclusion),
      (claim) => (proves(claim) ? `leaf ${claim.index} of ${claim.size}` : undefined),
    ),
    look(
      'consistency proofs of Go with a bit flipped, a hash less or more, refused',
      consistencies.flatMap(spoilPath),
      (claim) => (agrees(claim) ? `${claim.from} to ${claim.to}` : undefined),
    ),
  ]
}

/** Go has recorded entries of our form: position, time, body. */
export function leafOf({ index, entry }: Inclusion): Uint8Array {
  return leafHash({
    position: index + 1,
    recordedAtMs: Number(entry.readBigInt64BE(8)),
    body: entry.subarray(entryHeadBytes),
  })
}

const entryHeadBytes = 16

/** Every bit of what a log has signed and of its signature, but not of what a witness adds, which may say anything. */
function* bitsOf(note: string): Generator<string> {
  const all = Buffer.from(note, 'utf8')
  const [textEnd, ownStart] = [all.indexOf('\n\n') + 1, all.lastIndexOf('\n', all.length - 2) + 1]
  for (let at = 0; at < all.length; at++) {
    if (at >= textEnd && at < ownStart) continue
    for (let bit = 0; bit < 8; bit++) yield flip(all, at * 8 + bit).toString('utf8')
  }
}

function spoilInclusion(claim: Inclusion): readonly Inclusion[] {
  const body = claim.entry.length - entryHeadBytes
  const altered =
    body === 0 ? [] : [{ ...claim, entry: flip(claim.entry, entryHeadBytes * 8 + (claim.index % (body * 8))) }]
  return [...altered, ...spoilPath(claim)]
}

/** Each hash of a path with one bit altered, another one for each; and the path a hash longer or shorter at either end. */
function spoilPath<T extends { readonly path: readonly Buffer[] }>(claim: T): readonly T[] {
  const { path } = claim
  const stranger = Buffer.alloc(hashBytes, 7)
  const shorter = path.length === 0 ? [] : [path.slice(1), path.slice(0, -1)]
  const flipped = path.map((hash, k) => path.with(k, flip(hash, (k * 37) % (hashBytes * 8))))
  return [...flipped, ...shorter, [stranger, ...path], [...path, stranger]].map((path) => ({ ...claim, path }))
}

function flip(bytes: Buffer, bit: number): Buffer<ArrayBuffer> {
  const altered = Buffer.from(bytes)
  altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  return altered
}
