import { z } from 'zod'
import { readBase64 } from '@tollbook/core/base64'
import { utf8Text } from '@tollbook/core/bytes'
import { Fault } from '@tollbook/core/fault'
import { defaultFetch } from './defaultFetch.ts'
import { parseJson, readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'
import { openWithKeys } from './verifyInclusion.ts'
import { readKeys } from './serviceKeys.ts'

export interface CheckpointQuestion {
  readonly baseUrl: string
  /** Public keys of the service, as a JWK or a JWKS. */
  readonly keys: unknown
  readonly fetch?: Fetch
}

const timeoutMs = 10_000
const answerBytesMax = 100_000

/**
 * Fetches the newest checkpoint of the service. `note` is the signed text. Throws a `Fault` if the service does not
 * answer, if `keys` has no Ed25519 key, or if none of the keys has signed the checkpoint.
 */
export async function fetchCheckpoint({ baseUrl, keys, fetch = defaultFetch }: CheckpointQuestion) {
  const known = await readKeys(keys)
  if (known === undefined) throw new Fault('the key is not an Ed25519 JWK or a set of them', { retryable: false })
  const note = utf8Text(await fetchBytes(new URL('/api/ledger/checkpoint', baseUrl), fetch))
  const checkpoint = openWithKeys(note, known)
  if (checkpoint !== undefined) return { checkpoint, note }
  throw new Fault(`the checkpoint of ${baseUrl} is not signed with the key of the service`, { retryable: false })
}

const consistencyJson = z.object({ data: z.object({ path: z.array(z.base64()).max(64) }) })

/** Two sizes of the log, in events. `from` is the smaller one. */
export interface ConsistencyQuestion {
  readonly from: number
  readonly to: number
  readonly fetch?: Fetch
}

/** Fetches a consistency proof, and does not verify it. */
export async function fetchConsistency(
  baseUrl: string,
  { from, to, fetch = defaultFetch }: ConsistencyQuestion,
): Promise<readonly Uint8Array[]> {
  const url = new URL(`/api/ledger/consistency/${from}-${to}`, baseUrl)
  const parsed = consistencyJson.safeParse(parseJson(await fetchBytes(url, fetch)))
  const path = parsed.data?.data.path.map((text) => readBase64(text)) ?? [undefined]
  const hashes = path.filter((hash) => hash !== undefined)
  if (hashes.length !== path.length) throw new Fault(`${url.href} gave no consistency proof`, { retryable: true })
  return hashes
}

async function fetchBytes(url: URL, fetch: Fetch): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    if (response.status !== 200) throw new Fault(`it answered ${response.status}`, { retryable: true })
    return await readBody(response, answerBytesMax)
  } catch (error) {
    throw new Fault(`${url.href} did not answer`, { cause: error, retryable: true })
  }
}
