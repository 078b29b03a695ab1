/** The body was longer than its limit. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/**
 * Reads a whole body, or throws as soon as it exceeds the limit. Bytes are counted after decompression, which stops a
 * gzip bomb.
 */
export async function readBytes(response: Response, bytesMax: number): Promise<Buffer> {
  if (response.body === null) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    // Throwing leaves the loop, which cancels the stream and its connection.
    if (size > bytesMax) throw new TooLong(`the answer is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
