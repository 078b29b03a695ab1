import { utf8Text } from '@tollbook/core/bytes'
import type { Checkpoint } from '@tollbook/core/checkpoint'
import { Fault } from '@tollbook/core/fault'
import { readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'
import { openWithKeys } from './verifyInclusion.ts'
import { readKeys } from './verifyReceipt.ts'

export interface CheckpointQuestion {
  readonly baseUrl: string
  /** The service's public key, as a JWK or a JWKS. */
  readonly keys: unknown
  readonly fetch?: Fetch
}

const timeoutMs = 10_000
const noteBytesMax = 100_000

/** The newest checkpoint of a service, once its signature has been checked. */
export async function fetchCheckpoint({
  baseUrl,
  keys,
  fetch = globalThis.fetch,
}: CheckpointQuestion): Promise<Checkpoint> {
  const known = await readKeys(keys)
  if (known === undefined) throw new Fault('the key is not an Ed25519 JWK or a set of them', { retryable: false })
  const note = await fetchNote(new URL('/api/ledger/checkpoint', baseUrl), fetch)
  const checkpoint = openWithKeys(note, known)
  if (checkpoint !== undefined) return checkpoint
  throw new Fault(`the checkpoint of ${baseUrl} is not signed with the key of the service`, { retryable: false })
}

async function fetchNote(url: URL, fetch: Fetch): Promise<string> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    if (response.status !== 200) throw new Fault(`it answered ${response.status}`, { retryable: true })
    return utf8Text(await readBody(response, noteBytesMax))
  } catch (error) {
    throw new Fault(`${url.href} gave no checkpoint`, { cause: error, retryable: true })
  }
}
