import { afterAll, beforeEach, expect, test } from 'vitest'
import { cosignCheckpoint } from '@tollbook/client/cosignCheckpoint'
import { assertPresent } from '@tollbook/core/assert'
import { openCheckpoint, signCheckpoint } from '@tollbook/core/checkpoint'
import { openCosignature, readWitnessKey } from '@tollbook/core/cosignature'
import { sha256 } from '@tollbook/core/digest'
import { secretKeySigner } from '@tollbook/core/ed25519'
import { addLeaf, consistencyRanges, emptyFrontier, rootOf } from '@tollbook/core/merkle'
import { Keypair } from '@solana/web3.js'
import { startTestWitness, type TestWitness } from '../support/testWitness.ts'

/* The client of C2SP tlog-witness against a witness that was written for the tests. */

const signer = assertPresent(secretKeySigner(Keypair.generate().secretKey), 'a keypair signs')
const log = { name: 'example.com/ledger', publicKey: signer.publicKey }
const leaves = Array.from({ length: 40 }, (_, index) => sha256(`leaf ${index}`))
const rootOfRange = (from: number, to: number) => rootOf(leaves.slice(from, to).reduce(addLeaf, emptyFrontier))
const noteOf = (size: number) => signCheckpoint({ origin: log.name, size, root: rootOfRange(0, size) }, signer)
const proveConsistency = (sizes: { readonly from: number; readonly to: number }) =>
  Promise.resolve(consistencyRanges(sizes.from, sizes.to).map(({ from, to }) => rootOfRange(from, to)))

let running: TestWitness | undefined
beforeEach(async () => {
  await running?.[Symbol.asyncDispose]()
  running = await startTestWitness(log)
})
afterAll(() => running?.[Symbol.asyncDispose]())

function open() {
  const server = assertPresent(running, 'the witness runs')
  const witness = assertPresent(readWitnessKey(server.key), 'the witness has a key')
  return { server, witness, deps: { url: server.url, witness, proveConsistency } }
}

test('a witness cosigns checkpoints that continue each other, also when its size is not known', async () => {
  const { server, witness, deps } = open()
  for (const [size, seenSize] of [
    [5, 0],
    [8, 5],
    [8, 8],
    [40, 0],
  ] as const) {
    const { note, timeSeconds } = await cosignCheckpoint(deps, noteOf(size), seenSize)
    expect(timeSeconds).toBe(1_700_000_000)
    expect(openCosignature(note, witness)).toEqual({ timeSeconds })
    expect(openCheckpoint(note, log)?.size).toBe(size)
    expect(server.seen()?.size).toBe(size)
  }
})

test('a ledger that went back, or was rewritten, is refused', async () => {
  const { deps } = open()
  await cosignCheckpoint(deps, noteOf(20))
  await expect(cosignCheckpoint(deps, noteOf(12))).rejects.toThrow(/older copy/)
  const rewritten = (size: number) => signCheckpoint({ origin: log.name, size, root: sha256('another tree') }, signer)
  let requests = 0
  const counted: typeof fetch = (input, init) => {
    requests++
    return fetch(input, init)
  }
  await expect(cosignCheckpoint({ ...deps, fetch: counted }, rewritten(20), 20)).rejects.toThrow(/another tree of 20/)
  expect(requests).toBe(2)
  await expect(cosignCheckpoint(deps, rewritten(30), 20)).rejects.toThrow(/422.*rewritten/)
  const stranger = assertPresent(secretKeySigner(Keypair.generate().secretKey), 'a keypair signs')
  const foreign = signCheckpoint({ origin: log.name, size: 30, root: rootOfRange(0, 30) }, stranger)
  await expect(cosignCheckpoint(deps, foreign, 20)).rejects.toThrow(/403/)
  const other = signCheckpoint({ origin: 'example.org/other', size: 30, root: rootOfRange(0, 30) }, signer)
  await expect(cosignCheckpoint(deps, other)).rejects.toThrow(/404/)
})

test.each(['other_text', 'longer_text', 'other_time', 'no_signature'] as const)(
  'an answer with %s is not a cosignature',
  async (fault) => {
    const { server, deps } = open()
    server.answerWith(fault)
    await expect(cosignCheckpoint(deps, noteOf(5))).rejects.toThrow(/not its cosignature/)
  },
)

test('a size that is not a number, a silent witness, and a key of another kind are refused', async () => {
  const { server, deps, witness } = open()
  await cosignCheckpoint(deps, noteOf(5))
  server.answerWith('wrong_size')
  await expect(cosignCheckpoint(deps, noteOf(8))).rejects.toThrow(/409 without a size/)
  await expect(cosignCheckpoint({ ...deps, url: 'http://127.0.0.1:1' }, noteOf(8))).rejects.toThrow(/did not answer/)
  expect(readWitnessKey(server.key.replace('+', 'x+'))).toBeUndefined()
  expect(openCosignature(noteOf(5), witness)).toBeUndefined()
})

test('a note with a cosignature that does not hold has none of that witness, although another one holds', async () => {
  const { witness, deps } = open()
  const { note } = await cosignCheckpoint(deps, noteOf(5))
  const [line = ''] = note.trimEnd().split('\n').slice(-1)
  const [, name, text = ''] = /^(— \S+) (\S+)$/.exec(line) ?? []
  const forged = Buffer.from(text, 'base64')
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
  expect(openCosignature(note, witness)).toBeDefined()
  expect(openCosignature(`${note}${line}\n`, witness)).toBeDefined()
  expect(openCosignature(`${note}${name} ${forged.toString('base64')}\n`, witness)).toBeUndefined()
})
