import { Fault } from '@tollbook/core/fault'
import { readBytes, TooLong } from './readBytes.ts'

export interface PostOptions {
  readonly timeoutMs: number
}

// The largest answer of a node that we ask for is a transaction: 3 kB as a rule, some 100 kB at worst.
const answerBytesMax = 4 * 1024 * 1024

/** Posts JSON and reads JSON, within a time and a size. Redirects are not followed: a node has no reason to. */
export async function postJson(url: string, body: string, { timeoutMs }: PostOptions): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    redirect: 'error',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await readText(response)
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return JSON.parse(text)
}

async function readText(response: Response): Promise<string> {
  try {
    return (await readBytes(response, answerBytesMax)).toString('utf8')
  } catch (error) {
    // Asking again would bring the same answer.
    if (error instanceof TooLong) throw new Fault(error.message, { cause: error, retryable: false })
    throw error
  }
}
