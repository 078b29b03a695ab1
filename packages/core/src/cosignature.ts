import { equalBytes, utf8Bytes } from './bytes.ts'
import { keyId, type NoteVerifier, readNote, readVerifierKey } from './checkpoint.ts'
import { verifyEd25519 } from './ed25519.ts'

/*
 * Verifies C2SP tlog-cosignature, `cosignature/v1`. A witness states that the tree is the largest of the log that the
 * witness has seen so far. It also states that the tree continues all earlier trees.
 */

const cosignatureType = 0x04
const timeBytes = 8
const signatureBytes = 64

export interface Cosignature {
  /** Unix time by the clock of the witness. */
  readonly timeSeconds: number
}

/** A witness publishes `<name>+<key id>+<key>`. Undefined for other text or another type of key. */
export function readWitnessKey(text: string): NoteVerifier | undefined {
  return readVerifierKey(text, cosignatureType)
}

/** The newest of several cosignatures counts. Undefined if there is none, or if one of them is invalid. */
export function openCosignature(note: string, witness: NoteVerifier): Cosignature | undefined {
  const read = readNote(note)
  if (read === undefined) return undefined
  const id = keyId(witness, cosignatureType)
  const own = read.signatures.filter((signature) => signature.name === witness.name && equalBytes(id, signature.keyId))
  const times = own.map(({ signature }) => verifyCosignature(read.text, signature, witness.publicKey))
  const verified = times.filter((time) => time !== undefined)
  const newest = verified.toSorted((one, other) => other - one)[0]
  return newest === undefined || verified.length !== own.length ? undefined : { timeSeconds: newest }
}

function verifyCosignature(text: string, signed: Uint8Array, publicKey: Uint8Array): number | undefined {
  if (signed.length !== timeBytes + signatureBytes) return undefined
  const time = new DataView(signed.buffer, signed.byteOffset, timeBytes).getBigUint64(0)
  const message = utf8Bytes(`cosignature/v1\ntime ${time}\n${text}`)
  const holds = verifyEd25519({ publicKey, message, signature: signed.subarray(timeBytes) })
  return holds && time <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(time) : undefined
}
