import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

/*
 * Parses checkpoints in the formats C2SP tlog-checkpoint and C2SP signed-note. The text is `<origin>\n<size>\n<base64
 * root>\n`, optional further lines, an empty line, and signature lines: `— <name> <base64(4 bytes of key id ||
 * signature)>`.
 */

export interface CheckpointNote {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
  /** The text that the signatures cover. */
  readonly signedText: string
  readonly signatures: readonly NoteSignature[]
}

interface NoteSignature {
  readonly name: string
  readonly keyId: Buffer
  readonly signature: Buffer
}

/** A public key, written as `<name>+<key id in hex>+<base64(0x01 || public key)>`. */
export interface VerifierKey {
  readonly name: string
  readonly keyId: Buffer
  readonly key: KeyObject
}

// Enough for a checkpoint with 16 post-quantum cosignatures, which has about 80,000 characters.
const noteCharactersMax = 100_000
// C2SP permits every character in a name, except Unicode spaces and the plus sign.
const signatureLine = /^— ([^\p{White_Space}+]+) ([A-Za-z0-9+/]+={0,2})$/u
const ed25519 = 1
const keyIdBytes = 4
const rootBytes = 32

/** Parses a checkpoint. Undefined if the text violates one of the two formats. */
export function readCheckpoint(note: string): CheckpointNote | undefined {
  const split = note.lastIndexOf('\n\n')
  if (note.length > noteCharactersMax || split === -1) return undefined
  const signedText = note.slice(0, split + 1)
  const [origin = '', sizeText = '', rootText = ''] = signedText.split('\n')
  const root = Buffer.from(rootText, 'base64')
  const isWhole = origin !== '' && /^(0|[1-9]\d{0,15})$/.test(sizeText) && root.length === rootBytes
  // Refuse another spelling of the root, because several texts decode to the same bytes.
  if (!isWhole || root.toString('base64') !== rootText) return undefined
  const signatures = note
    .slice(split + 2)
    .split('\n')
    .filter((line) => line !== '')
    .map(readSignature)
  if (signatures.length === 0 || !signatures.every((signature) => signature !== undefined)) return undefined
  return { origin, size: Number(sizeText), root, signedText, signatures }
}

function readSignature(line: string): NoteSignature | undefined {
  const [, name, base64] = signatureLine.exec(line) ?? []
  if (name === undefined || base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length <= keyIdBytes) return undefined
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) }
}

/** Parses a verifier key. Undefined if the text is not an Ed25519 key, or if the key id does not match the key. */
export function readVerifierKey(text: string): VerifierKey | undefined {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text.trim())
  const [, name, keyIdHex, base64] = match ?? []
  if (name === undefined || keyIdHex === undefined || base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== 33 || bytes[0] !== ed25519) return undefined
  const verifier = verifierKeyOf(name, bytes.subarray(1))
  return verifier.keyId.toString('hex') === keyIdHex ? verifier : undefined
}

/** Creates a verifier key of C2SP signed-note. The key id is the first 4 bytes of the SHA-256 of name, type and key. */
export function verifierKeyOf(name: string, publicKey: Uint8Array): VerifierKey {
  const nameAndKey = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ed25519), publicKey])
  const keyId = createHash('sha256').update(nameAndKey).digest().subarray(0, keyIdBytes)
  return { name, keyId, key: ed25519Key(publicKey) }
}

// DER prefix of an Ed25519 public key (RFC 8410). It is needed, because node:crypto does not import the bare 32 bytes.
const derHead = Buffer.from('302a300506032b6570032100', 'hex')

export function ed25519Key(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([derHead, publicKey]), format: 'der', type: 'spki' })
}

export function isSignedBy({ signedText, signatures }: CheckpointNote, keys: readonly VerifierKey[]): boolean {
  return signatures.some(({ name, keyId, signature }) =>
    keys.some(
      (key) =>
        key.name === name &&
        key.keyId.equals(keyId) &&
        verify(null, Buffer.from(signedText, 'utf8'), key.key, signature),
    ),
  )
}
