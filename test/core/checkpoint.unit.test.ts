import { describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { sha256 } from '@tollbook/core/digest'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import {
  openCheckpoint,
  openNote,
  readCheckpoint,
  readNote,
  readVerifierKey,
  signCheckpoint,
  signNote,
  verifierKeyText,
} from '@tollbook/core/checkpoint'

/* Notes and keys that others have published: the Go module `note`, and the pages of C2SP. */

const neumann = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const root = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const neumannLine =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const rootLine =
  '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'
const note = `${text}\n${neumannLine}${rootLine}`
// The seed of Neumann's key, published with it for tests.
const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)

const verifier = (key: string) => assertPresent(readVerifierKey(key), 'a verifier key')
const jwk = (secret: Uint8Array, publicKey: Uint8Array) => ({
  kty: 'OKP' as const,
  crv: 'Ed25519' as const,
  d: Buffer.from(secret).toString('base64url'),
  x: Buffer.from(publicKey).toString('base64url'),
})

describe('C2SP signed-note', () => {
  test('the notes of Go are read and their signatures hold, each under its own key', () => {
    expect(readNote(note)?.signatures.map(({ name }) => name)).toEqual(['PeterNeumann', 'EnochRoot'])
    expect(openNote(note, verifier(neumann))).toBe(text)
    expect(openNote(note, verifier(root))).toBe(text)
  })

  test('the same text and key give the note that Go gives, to the byte', () => {
    const signer = ed25519Signer(jwk(seed, verifier(neumann).publicKey))
    expect(signNote(text, { name: 'PeterNeumann', signer })).toBe(`${text}\n${neumannLine}`)
    expect(verifierKeyText({ name: 'PeterNeumann', publicKey: signer.publicKey })).toBe(neumann)
  })

  test('a verifier key with any character changed, or cut, is none', () => {
    for (let k = 0; k < neumann.length; k++) {
      const next = String.fromCharCode(neumann.charCodeAt(k) + 1)
      expect(readVerifierKey(neumann.slice(0, k) + next + neumann.slice(k + 1)), `at ${k}`).toBeUndefined()
      expect(readVerifierKey(neumann.slice(0, k))).toBeUndefined()
      expect(readVerifierKey(neumann.slice(k + 1))).toBeUndefined()
    }
    // The id fits, but the key is too long, or of another kind.
    expect(
      readVerifierKey('PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY=='),
    ).toBeUndefined()
    expect(readVerifierKey('PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')).toBeUndefined()
  })

  test.each([
    ['has no signature', text],
    ['has an empty list of signatures', `${text}\n`],
    ['does not end its last line', note.slice(0, -1)],
    ['holds a control character', `\u0001${note}`],
    ['was not UTF-8', `\uFFFD${note}`],
    ['has a signature of a name with a space', note.replace('PeterNeumann', 'Peter Neumann')],
    ['has a signature of a name with a plus', note.replace('PeterNeumann', 'Peter+Neumann')],
    ['has another line behind the signatures', `${note}Unexpected line.\n`],
    ['has a signature too short to hold a key id', `${text}\n— PeterNeumann AAAA\n`],
    ['has a signature that is not base64', `${text}\n— PeterNeumann x08go\n`],
    ['has more signatures than allowed', `${text}\n${neumannLine.repeat(101)}`],
  ])('a note that %s is none', (_, wrong) => {
    expect(readNote(wrong)).toBeUndefined()
    expect(openNote(wrong, verifier(neumann))).toBeUndefined()
  })

  test('a signature of an unknown key is ignored, with any name that C2SP allows', () => {
    const stranger = ed25519Signer(makeReceiptKey())
    // A joiner and other invisible characters, a character of no alphabet yet, and more letters than a name of ours
    // has.
    for (const name of ['👩\u200d🚀.example', 'a\u00adb', 'a\u0378b', 'a\u007fb', '\ufeffa', 'w'.repeat(300)]) {
      const cosigned = signNote(text, { name, signer: stranger }) + neumannLine
      expect(openNote(cosigned, verifier(neumann)), JSON.stringify(name)).toBe(text)
      expect(openNote(cosigned, { name, publicKey: stranger.publicKey })).toBe(text)
      const key = verifierKeyText({ name, publicKey: stranger.publicKey })
      expect(readVerifierKey(key)).toEqual({ name, publicKey: Buffer.from(stranger.publicKey) })
    }
  })

  test('a name with any of the spaces of Unicode makes no note', () => {
    for (const space of [
      '\u0020',
      '\u0085',
      '\u00a0',
      '\u1680',
      '\u2003',
      '\u2028',
      '\u2029',
      '\u202f',
      '\u205f',
      '\u3000',
    ])
      expect(readNote(note.replace('PeterNeumann', `Peter${space}Neumann`)), JSON.stringify(space)).toBeUndefined()
  })

  test('a note is not opened by a key that has not signed it, under another name, or when the signature does not hold', () => {
    const key = verifier(neumann)
    expect(openNote(`${text}\n${rootLine}`, key)).toBeUndefined()
    expect(openNote(note, { ...key, name: 'CarmenSandiego' })).toBeUndefined()
    expect(
      openNote(note.replaceAll('PeterNeumann', 'CarmenSandiego'), { ...key, name: 'CarmenSandiego' }),
    ).toBeUndefined()
    expect(openNote(note.replace('cryptography', 'Cryptography'), key)).toBeUndefined()
    // One that holds does not make up for one that does not.
    const forged = neumannLine.replace('ZJku', 'ZJkv')
    expect(openNote(`${text}\n${neumannLine}${forged}`, key)).toBeUndefined()
  })
})

describe('C2SP tlog-checkpoint', () => {
  const example = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`

  test('the example of the specification is read', () => {
    expect(readCheckpoint(example)).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(Buffer.from(readCheckpoint(example)?.root ?? '').toString('hex')).toBe(
      '0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62',
    )
  })

  test('the tree head of Go is written and read', () => {
    const key = makeReceiptKey()
    const hello = sha256(Buffer.from('\0hello world'))
    const signed = signCheckpoint({ origin: 'go.sum', size: 123_456_789_012, root: hello }, ed25519Signer(key))
    expect(signed).toContain('go.sum\n123456789012\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n\n— go.sum ')
    expect(readCheckpoint(signed)).toEqual({ origin: 'go.sum', size: 123_456_789_012, root: Buffer.from(hello) })
  })

  test.each([
    ['a size in hexadecimal', example.replace('20852163', '0xabcdef')],
    ['a size with a leading zero', example.replace('20852163', '020852163')],
    ['a size that cannot be counted to', example.replace('20852163', '9999999999999999')],
    ['a negative size', example.replace('20852163', '-1')],
    ['a root that is too long', example.replace('q2I=', 'q2Iq2I=')],
    ['a root that is too short', example.replace('q2I=\n', '\n')],
    ['no origin', example.replace('example.com/behind-the-sofa\n', '\n')],
    ['an empty extension line', example.replace('q2I=\n', 'q2I=\n\nx\n')],
  ])('a checkpoint with %s is none', (_, wrong) => {
    expect(readCheckpoint(wrong)).toBeUndefined()
  })

  test('a checkpoint is opened by the key and the name that signed it, and by nothing else', () => {
    const key = ed25519Signer(makeReceiptKey())
    const other = ed25519Signer(makeReceiptKey())
    const checkpoint = { origin: 'tollbook/shop', size: 7, root: sha256('root') }
    const signed = signCheckpoint(checkpoint, key)
    const own = { name: 'tollbook/shop', publicKey: key.publicKey }
    expect(openCheckpoint(signed, own)).toEqual({ ...checkpoint, root: Buffer.from(checkpoint.root) })
    expect(openCheckpoint(signed, { ...own, publicKey: other.publicKey })).toBeUndefined()
    expect(openCheckpoint(signed, { ...own, name: 'tollbook/other' })).toBeUndefined()
    expect(openCheckpoint(signed.replace('\n7\n', '\n8\n'), own)).toBeUndefined()
    // A key of the right name may sign what it likes; it speaks for its own log only.
    const borrowed = signNote(`tollbook/other\n7\n${Buffer.from(checkpoint.root).toString('base64')}\n`, {
      name: own.name,
      signer: key,
    })
    expect(openNote(borrowed, own)).toBeDefined()
    expect(openCheckpoint(borrowed, own)).toBeUndefined()
  })

  test('an origin that is not a key name is never signed', () => {
    const signer = ed25519Signer(makeReceiptKey())
    for (const origin of ['', 'a b', 'a+b', 'a\nb', 'a\u00a0b', 'a'.repeat(201)])
      expect(() => signCheckpoint({ origin, size: 1, root: sha256('') }, signer)).toThrow(/an origin is a key name/)
  })
})
