import { assert } from './assert.ts'
import { encodeBase64, readBase64 } from './base64.ts'
import { concatBytes, equalBytes, toHex, utf8Bytes } from './bytes.ts'
import { sha256 } from './digest.ts'
import { type Ed25519Signer, verifyEd25519 } from './ed25519.ts'
import { hashBytes, type TreeHead } from './merkle.ts'

/*
 * Implements C2SP signed-note and tlog-checkpoint: a text with the log's name, size and root, followed by signatures.
 */

export interface Checkpoint extends TreeHead {
  /** Name of the log. `openCheckpoint` requires a verifier with the same name. */
  readonly origin: string
}

/** One key may sign under several names, so a verifier needs both. */
export interface NoteVerifier {
  readonly name: string
  readonly publicKey: Uint8Array
}

/** Spaces separate the parts of a line, and plus signs the parts of a verifier key. C2SP has no other requirement. */
function isKeyName(text: string): boolean {
  return text.length > 0 && !/[\p{White_Space}+]/u.test(text)
}

/**
 * Names of Tollbook's logs must be readable, because people write them down. Logs of other programs need only fulfil
 * C2SP.
 */
function isOrigin(text: string): boolean {
  return isKeyName(text) && text.length <= originCharactersMax && !/[\p{Z}\p{C}]/u.test(text)
}

const originCharactersMax = 200

/** The signer's key must be the key of the origin, or `openCheckpoint` refuses the note. */
export function signCheckpoint({ origin, size, root }: Checkpoint, signer: Ed25519Signer): string {
  assert(isOrigin(origin), 'an origin is a key name')
  assert(Number.isSafeInteger(size) && size >= 0 && root.length === hashBytes, 'a checkpoint has a size and a root')
  return signNote(`${origin}\n${size}\n${encodeBase64(root)}\n`, { name: origin, signer })
}

/** The signature covers the text with its last newline, but without the empty line that follows. */
export function signNote(text: string, { name, signer }: { name: string; signer: Ed25519Signer }): string {
  const signature = signer.sign(utf8Bytes(text))
  const signed = concatBytes([keyId({ name, publicKey: signer.publicKey }), signature])
  return `${text}\n${dash} ${name} ${encodeBase64(signed)}\n`
}

const dash = '—'
const ed25519Type = 0x01
const keyIdBytes = 4

/**
 * Readers find a signature by this ID: 4 bytes of a hash over name, type and key. `type` is the signature type of C2SP
 * signed-note.
 */
export function keyId({ name, publicKey }: NoteVerifier, type = ed25519Type): Uint8Array {
  return sha256(concatBytes([utf8Bytes(`${name}\n`), Uint8Array.of(type), publicKey])).subarray(0, keyIdBytes)
}

/** External verifiers are configured with `<name>+<key id>+<key>`. */
export function verifierKeyText(verifier: NoteVerifier): string {
  const typed = concatBytes([Uint8Array.of(ed25519Type), verifier.publicKey])
  return `${verifier.name}+${toHex(keyId(verifier))}+${encodeBase64(typed)}`
}

/**
 * Reads `<name>+<key id>+<base64 key>`. Undefined for other text, for another type of key, and if the ID does not
 * match.
 */
export function readVerifierKey(text: string, type = ed25519Type): NoteVerifier | undefined {
  const [, name = '', id, key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? []
  const typed = readBase64(key, publicKeyBytes + 1)
  if (!isKeyName(name) || typed?.[0] !== type) return undefined
  const verifier = { name, publicKey: typed.subarray(1) }
  return toHex(keyId(verifier, type)) === id ? verifier : undefined
}

const publicKeyBytes = 32

export interface NoteSignature {
  readonly name: string
  readonly keyId: Uint8Array
  readonly signature: Uint8Array
}

/** A note that is parsed and not verified (C2SP signed-note). */
export interface Note {
  /** Includes the last newline, which the signatures cover. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

// Maximum characters of a note. A checkpoint with one signature has about 200. The rest is for cosignatures of many
// witnesses, which are longer with post-quantum keys.
const noteCharactersMax = 100_000
const signaturesMax = 100
// Matches the control characters below U+0020 except newline, and the replacement character, which marks invalid UTF-8.
const unfit = /[^\n\u0020-\u{10FFFF}]|\uFFFD/u

export function readNote(note: string): Note | undefined {
  const end = note.lastIndexOf('\n\n')
  if (note.length > noteCharactersMax || end < 0 || !note.endsWith('\n') || unfit.test(note)) return undefined
  const lines = note.slice(end + 2, -1).split('\n')
  const signatures = lines.slice(0, signaturesMax + 1).map(readSignatureLine)
  const known = signatures.filter((signature) => signature !== undefined)
  if (known.length !== lines.length || lines.length > signaturesMax) return undefined
  return { text: note.slice(0, end + 1), signatures: known }
}

function readSignatureLine(line: string): NoteSignature | undefined {
  const [, name = '', base64 = ''] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? []
  const bytes = readBase64(base64)
  if (!isKeyName(name) || bytes === undefined || bytes.length <= keyIdBytes) return undefined
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) }
}

/**
 * Returns the text of the note. Undefined unless this key has signed it, and each signature of this key in the note is
 * valid.
 */
export function openNote(note: string, verifier: NoteVerifier): string | undefined {
  const read = readNote(note)
  if (read === undefined) return undefined
  const id = keyId(verifier)
  const own = read.signatures.filter((signature) => signature.name === verifier.name && equalBytes(id, signature.keyId))
  const message = utf8Bytes(read.text)
  const holds = own.every(({ signature }) => verifyEd25519({ publicKey: verifier.publicKey, message, signature }))
  return own.length > 0 && holds ? read.text : undefined
}

/** Does not verify the signatures. Lines after the root are extensions, and are ignored. */
export function readCheckpoint(note: string): Checkpoint | undefined {
  const read = readNote(note)
  return read === undefined ? undefined : readCheckpointText(read.text)
}

function readCheckpointText(text: string): Checkpoint | undefined {
  const [origin = '', sizeText = '', rootText = '', ...extensions] = text.slice(0, -1).split('\n')
  const root = readBase64(rootText, hashBytes)
  const size = /^(0|[1-9]\d{0,15})$/.test(sizeText) ? Number(sizeText) : Number.NaN
  if (origin === '' || root === undefined || !Number.isSafeInteger(size) || extensions.includes('')) return undefined
  return { origin, size, root }
}

/** Undefined unless this key has signed the checkpoint, and the verifier's name is the origin. */
export function openCheckpoint(note: string, verifier: NoteVerifier): Checkpoint | undefined {
  const text = openNote(note, verifier)
  const checkpoint = text === undefined ? undefined : readCheckpointText(text)
  return checkpoint?.origin === verifier.name ? checkpoint : undefined
}
