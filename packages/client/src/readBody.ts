import { Fault } from '@tollbook/core/fault'

/** The whole body, within a size: an answer that never ends would fill the memory of the payer. */
export async function readBody(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > bytesMax) throw new Fault(`the answer is longer than ${bytesMax} bytes`, { retryable: false })
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}

/** Undefined for anything that is not JSON: an answer of a proxy on the path carries no information for us. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
