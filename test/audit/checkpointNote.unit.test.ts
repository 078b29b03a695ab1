import { expect, test } from 'vitest'
import { isSignedBy, readCheckpoint, readVerifierKey, verifierKeyOf } from '@tollbook/audit/checkpointNote'
import { storedCheckpoints } from '../../packages/audit/src/checkpoints.ts'
import { assertPresent } from '@tollbook/core/assert'
import { signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { makeReceiptKey } from '../../src/cli/local/home.ts'

/* Checkpoints as the auditor reads them, without the code that signs them. */

const [signer, other] = [ed25519Signer(makeReceiptKey()), ed25519Signer(makeReceiptKey())]
const name = 'tollbook/notes'
const root = Buffer.alloc(32, 1)
const note = signCheckpoint({ origin: name, size: 7, root }, signer)

test('a checkpoint that the service signed is read', () => {
  expect(readCheckpoint(note)).toMatchObject({ origin: name, size: 7, root })
  const extended = note.replace('\n\n', '\nan extension\n\n')
  expect(readCheckpoint(extended)).toMatchObject({ origin: name, size: 7, root })
})

test('a checkpoint is read with the cosignatures of 16 witnesses with long keys and rare names', () => {
  const long = Buffer.alloc(3_700, 1).toString('base64')
  const lines = Array.from({ length: 16 }, (_, index) => `— \ufeffwitness${index} ${long}\n`)
  const cosigned = note + lines.join('')
  expect(cosigned.length).toBeGreaterThan(79_000)
  expect(readCheckpoint(cosigned)?.signatures).toHaveLength(17)
})

const rootText = root.toString('base64')
test.each([
  ['another spelling of its root', rootText, rootText.replace(/E=$/, 'F=')],
  ['a shorter root', rootText, rootText.slice(4)],
  ['a size with a leading zero', '\n7\n', '\n07\n'],
  ['a negative size', '\n7\n', '\n-7\n'],
  ['no origin', `${name}\n7`, '\n7'],
  ['no empty line before its signatures', '\n\n', '\n'],
  ['no signature', /—.*\n/, ''],
  ['a signature line that cannot be read', /—.*\n/, (line: string) => `${line}— stranger\n`],
  ['a signature of nothing but a key id', /—.*\n/, `— ${name} ${Buffer.alloc(4).toString('base64')}\n`],
])('a note with %s is not a checkpoint', (_, from, to) => {
  const changed = note.replace(from, to as string)
  expect(changed).not.toBe(note)
  expect(readCheckpoint(changed)).toBeUndefined()
})

test('a checkpoint counts as signed only by the key with its name, its id and its signature', () => {
  const read = assertPresent(readCheckpoint(note), 'it is a checkpoint')
  const right = verifierKeyOf(name, signer.publicKey)
  const wrong = verifierKeyOf(name, other.publicKey)
  expect(isSignedBy(read, [wrong, right])).toBe(true)
  expect(isSignedBy(read, [wrong])).toBe(false)
  expect(isSignedBy(read, [{ ...right, name: 'tollbook/other' }])).toBe(false)
  expect(isSignedBy(read, [{ ...right, keyId: wrong.keyId }])).toBe(false)
  expect(isSignedBy(read, [{ ...right, key: wrong.key }])).toBe(false)
  expect(isSignedBy({ ...read, signedText: read.signedText.replace('7', '8') }, [right])).toBe(false)
})

test('a verifier key is read with its line break, and refused with an id of another key or of another type', () => {
  const text = verifierKeyText({ name, publicKey: signer.publicKey })
  expect(readVerifierKey(`${text}\n`)).toEqual(verifierKeyOf(name, signer.publicKey))
  const [, id = '', key = ''] = text.split('+')
  const keyOfOther = verifierKeyText({ name, publicKey: other.publicKey }).split('+').slice(2).join('+')
  const bytes = Buffer.from(key, 'base64')
  for (const changed of [
    `${name}+${id}+${keyOfOther}`,
    `tollbook/other+${id}+${key}`,
    `${name}+${id}+${Buffer.concat([Buffer.of(2), bytes.subarray(1)]).toString('base64')}`,
    `${name}+${id}+${bytes.subarray(1).toString('base64')}`,
    `${name}+${id}`,
  ])
    expect(readVerifierKey(changed), changed).toBeUndefined()
})

test('stored checkpoints end at a size that JavaScript cannot represent exactly', async () => {
  const asked: unknown[] = []
  const rows = (_query: string, values?: readonly unknown[]) => Promise.resolve((asked.push(values), []))
  const unused = () => {
    throw new Error('checkpoints are read by rows')
  }
  const source = { rows, copy: unused, copyBeside: unused, mayRead: unused, [Symbol.asyncDispose]: unused }
  const read = storedCheckpoints(source)
  await read(Number.MAX_SAFE_INTEGER)
  expect(await read(Number.MAX_SAFE_INTEGER + 1)).toEqual([])
  expect(asked).toEqual([[Number.MAX_SAFE_INTEGER]])
})
