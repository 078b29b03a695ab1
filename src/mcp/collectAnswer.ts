import type { RawAnswer, StreamedAnswer } from '../paywall/answer.ts'

// A result of MCP is one message in memory.
const bytesMax = 1024 * 1024
const cutText = '\n[cut at 1 MiB; the payment and its receipt are for the whole answer]'

/**
 * Collects a streamed answer. It is read to its end even if it is too long, because the delivery is recorded there.
 * Throws if the answer breaks.
 */
export async function collectAnswer(answer: StreamedAnswer): Promise<RawAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isCut = false
  for await (const chunk of answer.chunks) {
    const part = chunk.subarray(0, bytesMax - bytes)
    isCut ||= part.length < chunk.length
    bytes += part.length
    if (part.length > 0) chunks.push(part)
  }
  const dispatch = answer.dispatch()
  return {
    status: answer.status,
    headers: { ...answer.headers, ...answer.trailers() },
    body: Buffer.concat(isCut ? [...chunks, Buffer.from(cutText)] : chunks),
    ...(dispatch === undefined ? {} : { dispatch }),
  }
}
