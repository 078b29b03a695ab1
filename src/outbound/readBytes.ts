export class TooLong extends Error {
  override readonly name = 'TooLong'
}

/**
 * Throws `TooLong` and closes the body as soon as its size exceeds the limit. For a `Response`, the bytes are counted
 * after decompression, so that a gzip bomb is stopped.
 */
export async function* bounded(body: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytesMax) throw new TooLong(`the answer is longer than ${bytesMax} bytes`)
    yield chunk
  }
}

/** Throws `TooLong` if the size exceeds the limit. */
export async function readBytes(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  if (body !== null) for await (const chunk of bounded(body, bytesMax)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
