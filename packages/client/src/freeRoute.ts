import { parseJson, readBody } from './readBody.ts'
import type { Fetch } from './solanaRpc.ts'

/** `body` is parsed JSON of an untrusted service: validate it before use. */
export interface FreeAnswer {
  readonly status: number
  readonly body: unknown
}

export interface FreeRequest {
  readonly baseUrl: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly fetch?: Fetch
}

const timeoutMs = 10_000
const answerBytesMax = 1024 * 1024

/** Sends a request without a payment and returns its answer, whatever its status. Throws if no answer arrives. */
export async function askFree({
  baseUrl,
  path,
  headers = {},
  body,
  fetch = globalThis.fetch,
}: FreeRequest): Promise<FreeAnswer> {
  const post = body === undefined ? {} : { method: 'POST', body }
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const url = new URL(path, baseUrl)
  const response = await fetch(url, {
    ...post,
    headers: { ...type, ...headers },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, body: parseJson(await readBody(response, answerBytesMax)) }
}
