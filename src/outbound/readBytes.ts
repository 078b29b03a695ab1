/** The body was longer than it may be. */
export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/** Reads a body to its end, or throws at the first byte too many. Bytes are counted after decompression: a gzip bomb is cut. */
export async function readBytes(response: Response, bytesMax: number): Promise<Buffer> {
  if (response.body === null) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    // Leaving the loop cancels the stream and with it the connection.
    if (size > bytesMax) throw new TooLong(`the answer is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
