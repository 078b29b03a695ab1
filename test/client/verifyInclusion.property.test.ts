import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { sha256 } from '@tollbook/core/digest'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { inclusionRanges, rootOfHashes } from '@tollbook/core/merkle'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { type InclusionProblem, verifyInclusion } from '@tollbook/client/verifyInclusion'
import { fulfilledAtMs, openReceiptFixture } from './support/testReceipt.ts'
import { rounds } from '../support/rounds.ts'

const receipts = await openReceiptFixture()
const other = await openReceiptFixture()
const receipt = await receipts.sign()
const { position, leafHash } = receipt['ledger'] as { position: number; leafHash: string }

/** A ledger in which the receipt stands where it says. */
function proofOf({ size = 20, origin = 'tollbook/shop', key = receipts.privateKey, at = position } = {}) {
  const leaves = Array.from({ length: size }, (_, k) => (k === at - 1 ? Buffer.from(leafHash, 'hex') : sha256(`${k}`)))
  const { x, d } = key
  const signer = ed25519Signer({ kty: 'OKP', crv: 'Ed25519', x: assertPresent(x, 'x'), d: assertPresent(d, 'd') })
  const root = rootOfHashes(leaves)
  const path = inclusionRanges(at - 1, size).map(({ from, to }) => rootOfHashes(leaves.slice(from, to)))
  return {
    position: at,
    leafHash: Buffer.from(leafHash, 'hex').toString('base64'),
    treeSize: size,
    root: Buffer.from(root).toString('base64'),
    path: path.map((hash) => Buffer.from(hash).toString('base64')),
    checkpoint: signCheckpoint({ origin, size, root }, signer),
  }
}

async function problemOf(proof: unknown, more: object = {}): Promise<InclusionProblem | 'none'> {
  const verdict = await verifyInclusion({ receipt, keys: receipts.keys, proof, ...more })
  return verdict.valid ? 'none' : verdict.problem
}

test('a receipt proves at any size of the ledger, with the whole answer and with its data alone', async () => {
  for (const size of [7, 8, 9, 64, 100]) {
    const proof = proofOf({ size })
    expect(await problemOf(proof)).toBe('none')
    expect(await problemOf({ success: true, data: proof }, { expectedOrigin: 'tollbook/shop' })).toBe('none')
  }
})

test('each way in which a proof can be of something else is named', async () => {
  expect(await problemOf(proofOf({ key: other.privateKey }))).toBe('checkpoint_unsigned')
  expect(await problemOf(proofOf({ key: makeReceiptKey() }))).toBe('checkpoint_unsigned')
  expect(await problemOf(proofOf(), { expectedOrigin: 'tollbook/other' })).toBe('other_log')
  expect(await problemOf(proofOf({ at: 8 }))).toBe('other_event')
  expect(await problemOf({ ...proofOf({ at: 8 }), position })).toBe('path_invalid')
  expect(await problemOf({ ...proofOf(), checkpoint: proofOf({ size: 21 }).checkpoint })).toBe('path_invalid')
  expect(await problemOf({ ...proofOf(), path: [] })).toBe('path_invalid')
  expect(await problemOf({ ...proofOf(), path: Array(65).fill(proofOf().root) })).toBe('proof_malformed')
  expect(await problemOf({ ...proofOf(), checkpoint: '' })).toBe('checkpoint_unsigned')
})

test('a key that had ended before the event of the receipt signs no tree that contains it', async () => {
  const [key] = receipts.keys.keys
  const [ended] = other.keys.keys
  const endOf = (seconds: number) => ({ keys: [key, { ...ended, exp: fulfilledAtMs / 1000 + seconds }] })
  const proof = proofOf({ key: other.privateKey })
  expect(await problemOf(proof, { keys: endOf(0) })).toBe('checkpoint_unsigned')
  expect(await problemOf(proof, { keys: endOf(1) })).toBe('none')
})

test('a receipt that does not hold is not made good by a proof that does', async () => {
  const proof = proofOf()
  expect(await problemOf(proof, { receipt: { ...receipt, ledger: { position, leafHash: '00'.repeat(32) } } })).toBe(
    'payload_differs',
  )
  expect(await problemOf(proof, { receipt: await other.sign() })).toBe('key_unknown')
  expect(await problemOf(proof, { keys: other.keys })).toBe('key_unknown')
})

test('fields of the proof other than path and checkpoint are neither trusted nor needed', async () => {
  const { position: at, path, checkpoint } = proofOf()
  expect(await problemOf({ position: at, path, checkpoint })).toBe('none')
  expect(await problemOf({ ...proofOf(), treeSize: 1, root: 'x', leafHash: 'x' })).toBe('none')
})

test('any bit of the path or the checkpoint altered, and it does not verify', async () => {
  const proof = proofOf({ size: 50 })
  await fc.assert(
    fc.asyncProperty(fc.nat(5), fc.nat(255), async (at, bit) => {
      const hash = Buffer.from(assertPresent(proof.path[at], 'a hash'), 'base64')
      hash.writeUInt8(hash.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      const path = proof.path.with(at, hash.toString('base64'))
      expect(await problemOf({ ...proof, path })).toBe('path_invalid')
    }),
    { numRuns: rounds(60) },
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(proof.checkpoint.length - 2), async (at) => {
      const changed = String.fromCharCode(proof.checkpoint.charCodeAt(at) ^ 1)
      const checkpoint = proof.checkpoint.slice(0, at) + changed + proof.checkpoint.slice(at + 1)
      expect(await problemOf({ ...proof, checkpoint })).not.toBe('none')
    }),
    { numRuns: rounds(60) },
  )
})

test('throws for nothing that it is given', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), fc.anything(), async (proof, keys) => {
      expect(await problemOf(proof, { keys })).not.toBe('none')
      expect(await problemOf(proof)).toBe('proof_malformed')
    }),
    { numRuns: rounds(100) },
  )
})
