import { concatBytes, utf8Text } from '@tollbook/core/bytes'
import { parseJson as parseText } from '@tollbook/core/json'
import { PayerFault } from './errorCode.ts'

/** Throws above `bytesMax`: an endless answer would fill the payer's memory. */
export async function readBody(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body.getReader()
  // Use a reader, because not every browser can iterate streams with `for await`.
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.length
    if (size > bytesMax) {
      await reader.cancel()
      throw new PayerFault('SERVICE_UNAVAILABLE', `the answer is longer than ${bytesMax} bytes`, { retryable: false })
    }
    chunks.push(step.value)
  }
  return Uint8Array.from(concatBytes(chunks))
}

/** Undefined for text that is not JSON, such as the error page of a proxy. */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(utf8Text(bytes))
}
