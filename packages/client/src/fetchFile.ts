import { Fault } from '@tollbook/core/fault'
import { defaultFetch } from './defaultFetch.ts'
import { readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'

export interface FetchedFile {
  readonly contentType: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const timeoutMs = 30_000
const fileBytesMax = 64 * 1024 * 1024

/**
 * Fetches a picture or a document that an answer refers to, of at most 64 MiB. Throws a `Fault` for any status other
 * than 200.
 */
export async function fetchFile(url: string, fetch: Fetch = defaultFetch): Promise<FetchedFile> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  const bytes = await readBody(response, fileBytesMax)
  if (response.status !== 200)
    throw new Fault(`${url} was answered with HTTP ${response.status}`, { retryable: response.status >= 500 })
  return { contentType: response.headers.get('content-type') ?? '', bytes }
}
