import { concatBytes, utf8Text } from '@tollbook/core/bytes'
import { PayerFault } from './errorCode.ts'

/** The whole body, within a size: an answer that never ends would fill the memory of the payer. */
export async function readBody(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body.getReader()
  // `bytesMax` bounds the loop. Not `for await`: Safari cannot iterate streams.
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Uint8Array.from(concatBytes(chunks))
    size += value.length
    if (size > bytesMax) {
      await reader.cancel()
      throw new PayerFault('SERVICE_UNAVAILABLE', `the answer is longer than ${bytesMax} bytes`, { retryable: false })
    }
    chunks.push(value)
  }
}

/** Undefined for anything that is not JSON: an answer of a proxy on the path carries no information for us. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8Text(bytes))
  } catch {
    return undefined
  }
}
