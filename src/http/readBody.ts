import type { IncomingMessage } from 'node:http'
import getRawBody, { type RawBodyError } from 'raw-body'
import type { Answer } from '../paywall/answer.ts'
import { errorAnswer, invalidRequest } from './transportError.ts'
import { parseJson } from './parseJson.ts'

// Exactly application/json in UTF-8: "+json" types, lists and other charsets are something else.
const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?;?$/i

/** Checks the media type first, then the size, then the content, so that cheap refusals come before any reading. */
export async function readJsonBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<{ readonly value: unknown } | Answer> {
  const type = request.headers['content-type'] ?? ''
  if (!jsonType.test(type))
    return errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'content-type must be application/json in UTF-8')
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    return errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'content-encoding must be absent: send the JSON uncompressed')

  const bytes = await readBytes(request, bytesMax)
  if ('status' in bytes) return bytes
  const parsed = parseJson(bytes)
  return parsed.ok ? { value: parsed.value } : invalidRequest([{ field: 'body', message: parsed.message }])
}

async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer | Answer> {
  try {
    return await getRawBody(request, { length: request.headers['content-length'] ?? null, limit: bytesMax })
  } catch (error) {
    // The rest of the body is read and dropped, so that the caller sees the answer and not a broken connection.
    request.resume()
    if (isRawBodyError(error) && error.type === 'entity.too.large') {
      return errorAnswer('PAYLOAD_TOO_LARGE', `the body must have at most ${bytesMax} bytes`)
    }
    return invalidRequest([{ field: 'body', message: 'must be as long as content-length says, and complete' }])
  }
}

function isRawBodyError(error: unknown): error is RawBodyError {
  return error instanceof Error && 'type' in error
}
