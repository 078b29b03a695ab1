import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Text } from '@tollbook/core/bytes'
import { type Checkpoint, type NoteVerifier, readCheckpoint, readNote } from '@tollbook/core/checkpoint'
import { openCosignature } from '@tollbook/core/cosignature'
import { Fault } from '@tollbook/core/fault'
import { defaultFetch } from './defaultFetch.ts'
import { readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'

export interface WitnessDeps {
  /** URL prefix of the witness. Requests go to `<url>/add-checkpoint`. */
  readonly url: string
  readonly witness: NoteVerifier
  readonly proveConsistency: (sizes: { readonly from: number; readonly to: number }) => Promise<readonly Uint8Array[]>
  readonly fetch?: Fetch
}

/** `timeSeconds` is the Unix time of the witness, which its signature covers. */
export interface Cosigned {
  readonly note: string
  readonly timeSeconds: number
}

const timeoutMs = 30_000
const answerBytesMax = 100_000
const pathMax = 63
// Two requests, because the witness returns the right size if the first request has a wrong one.
const requestsMax = 2

/**
 * Requests a cosignature from a witness by C2SP tlog-witness. The request has the size that the witness has seen, the
 * consistency proof from that size, and the checkpoint. Throws a fault that is not retryable if the witness has seen a
 * tree that the checkpoint does not continue.
 */
export async function cosignCheckpoint(deps: WitnessDeps, note: string, seenSize = 0): Promise<Cosigned> {
  const checkpoint = readCheckpoint(note)
  if (checkpoint === undefined) throw new Fault('the checkpoint is not a signed note', { retryable: false })
  let oldSize = seenSize
  for (let request = 1; request <= requestsMax; request++) {
    requireGrowth(deps, checkpoint, oldSize)
    const answer = await askWitness(deps, { note, checkpoint, oldSize })
    if (answer.status === 200) return readCosigned(deps, note, answer.text)
    if (answer.status !== 409) throw refusalOf(deps, answer)
    oldSize = readSize(deps, answer.text)
  }
  // The witness answered 409 twice. The usual cause: it has seen a tree of this size with another root.
  throw refused(
    `the witness ${deps.witness.name} has seen another tree of ${oldSize} events: the ledger was rewritten, or another ledger has its name`,
  )
}

function requireGrowth({ witness }: WitnessDeps, { size, origin }: Checkpoint, oldSize: number): void {
  if (oldSize <= size) return
  throw refused(
    `the witness ${witness.name} has seen ${oldSize} events of ${origin}, and the checkpoint has ${size}: an older copy of the ledger was restored`,
  )
}

interface Question {
  readonly note: string
  readonly checkpoint: Checkpoint
  readonly oldSize: number
}

interface WitnessAnswer {
  readonly status: number
  readonly text: string
}

async function askWitness(deps: WitnessDeps, { note, checkpoint, oldSize }: Question): Promise<WitnessAnswer> {
  const { url, proveConsistency, fetch = defaultFetch } = deps
  const needsPath = oldSize > 0 && oldSize < checkpoint.size
  const path = needsPath ? await proveConsistency({ from: oldSize, to: checkpoint.size }) : []
  if (path.length > pathMax)
    throw refused(`the consistency proof has ${path.length} hashes, and ${pathMax} are allowed`)
  const lines = [`old ${oldSize}`, ...path.map(encodeBase64)]
  const body = `${lines.join('\n')}\n\n${note}`
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, text: utf8Text(await readBody(response, answerBytesMax)) }
  } catch (error) {
    throw new Fault(`the witness ${url} did not answer`, { cause: error, retryable: true })
  }
}

function readSize({ witness }: WitnessDeps, text: string): number {
  const [, digits] = /^(0|[1-9]\d{0,14})\n$/.exec(text) ?? []
  if (digits === undefined) throw refused(`the witness ${witness.name} answered 409 without a size`)
  return Number(digits)
}

function readCosigned({ witness }: WitnessDeps, note: string, lines: string): Cosigned {
  const cosigned = `${note}${lines}`
  const cosignature = openCosignature(cosigned, witness)
  const isSameText = readNote(cosigned)?.text === readNote(note)?.text
  if (cosignature === undefined || !isSameText)
    throw refused(`the answer of the witness ${witness.name} is not its cosignature of the checkpoint`)
  return { note: cosigned, timeSeconds: cosignature.timeSeconds }
}

const meanings: ReadonlyMap<number, string> = new Map([
  [400, 'it cannot read the request'],
  [403, 'it does not accept the signature of the log: give the witness the key of GET /api/ledger/key'],
  [404, 'it does not know the log: give the witness its origin and key'],
  [422, 'the checkpoint does not continue the tree that the witness has seen: the ledger was rewritten'],
])

function refusalOf({ witness }: WitnessDeps, { status }: WitnessAnswer): Fault {
  const meaning = meanings.get(status)
  const message = `the witness ${witness.name} answered ${status}${meaning === undefined ? '' : `: ${meaning}`}`
  return new Fault(message, { retryable: meaning === undefined })
}

function refused(message: string): Fault {
  return new Fault(message, { retryable: false })
}
