import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@tollbook/core/clock'
import type { Answer } from '../paywall/answer.ts'
import { errorAnswer, invalidRequest, overloaded } from './transportError.ts'
import type { Upload, Uploads } from './uploads.ts'

// Matches application/json in UTF-8 only. "+json" types, lists and other charsets do not match.
const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?;?$/i

export interface BodyDeps {
  readonly clock: Clock
  readonly uploads: Uploads
}

export interface ArrivingBody {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly address: string
  readonly bytesMax: number
  readonly contentTypes?: readonly string[] | undefined
}

/**
 * Reads the body. Checks the media type and the declared length before the content, so that most refusals need no
 * reading. A client that expects `100 Continue` gets it after these checks.
 */
export async function readBody(deps: BodyDeps, arriving: ArrivingBody): Promise<Buffer | Answer> {
  const { request, response, bytesMax } = arriving
  const mistake = findTypeMistake(request.headers['content-type'] ?? '', arriving.contentTypes)
  if (mistake !== undefined) return errorAnswer('UNSUPPORTED_MEDIA_TYPE', mistake)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    return errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'content-encoding must be absent: send the body uncompressed')
  if (declaredBytes(request) > bytesMax) return tooLarge(bytesMax)
  // Skip HTTP/1.0, because it has no `100 Continue` (RFC 9110, 10.1.1).
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
  return receive(deps, arriving)
}

const typeLengthMax = 200

function findTypeMistake(type: string, contentTypes: readonly string[] | undefined): string | undefined {
  if (contentTypes === undefined)
    return jsonType.test(type) ? undefined : 'content-type must be application/json in UTF-8'
  const [mediaType = ''] = type.split(';', 1)
  const isAccepted = type.length <= typeLengthMax && contentTypes.includes(mediaType.trim().toLowerCase())
  return isAccepted ? undefined : `content-type must be ${contentTypes.join(' or ')}`
}

function tooLarge(bytesMax: number): Answer {
  return errorAnswer('PAYLOAD_TOO_LARGE', `the body must have at most ${bytesMax} bytes`)
}

function declaredBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}

const firstBytesMs = 3_000
const timeMaxMs = 10_000
// Rate by which the permitted time grows with the declared length: about 1 Mbit/s.
const bytesPerMsMin = 128
// Each Buffer object takes this in addition to its content: a body in chunks of one byte uses far more than its length.
const chunkOverheadBytes = 256

/**
 * Returns the time in which the body must arrive, in milliseconds. A chunked body gets the maximum, because its length
 * is unknown.
 */
function timeFor(request: IncomingMessage): number {
  if (request.headers['content-length'] === undefined) return timeMaxMs
  return Math.min(timeMaxMs, firstBytesMs + declaredBytes(request) / bytesPerMsMin)
}

async function receive({ clock, uploads }: BodyDeps, arriving: ArrivingBody): Promise<Buffer | Answer> {
  const { request, response, address } = arriving
  const outcome = Promise.withResolvers<Buffer | Answer>()
  const upload = uploads.begin(address, () => outcome.resolve(overloaded()))
  // End the upload only with the answer, because parsing and serving use the bytes until then.
  response.once('close', upload.end)
  const stop = collect(arriving, upload, outcome.resolve)
  const timeout = new AbortController()
  clock.sleep(timeFor(request), timeout.signal).then(
    () => outcome.resolve(tooSlow()),
    () => undefined,
  )
  const received = await outcome.promise
  timeout.abort('the body has arrived')
  stop()
  if (!('status' in received)) upload.arrived()
  return received
}

function tooSlow(): Answer {
  return errorAnswer('REQUEST_TIMEOUT', 'the body did not arrive in time; send it at 128 kB a second or faster', {
    headers: { connection: 'close' },
  })
}

// Chunks of a body, in addition to one per 512 bytes. A body in chunks of one byte would keep the event loop busy. Each
// packet also ends a chunk.
const chunksMax = 1_000
const bytesPerFurtherChunk = 512

function crumbled(): Answer {
  return invalidRequest([{ field: 'body', message: `must have at most ${chunksMax} chunks, or larger ones` }])
}

/** Collects the chunks of the body, and settles the outcome. The returned function stops the collection. */
function collect(
  { request, bytesMax }: ArrivingBody,
  upload: Upload,
  settle: (outcome: Buffer | Answer) => void,
): () => void {
  const chunks: Buffer[] = []
  let bytes = 0
  let count = 0
  const isCrumbled = () => ++count > chunksMax + bytes / bytesPerFurtherChunk
  const onData = (chunk: Buffer) => {
    bytes += chunk.length
    if (isCrumbled()) {
      settle(crumbled())
      // Parsing the remaining chunks is the expensive part, so do not read them.
      request.pause()
    } else if (bytes > bytesMax) settle(tooLarge(bytesMax))
    else if (upload.hold(chunk.length + chunkOverheadBytes)) chunks.push(chunk)
    else settle(overloaded())
  }
  const onEnd = () => settle(Buffer.concat(chunks))
  const onBroken = () =>
    settle(invalidRequest([{ field: 'body', message: 'must be as long as content-length says, and complete' }]))
  request.on('data', onData).once('end', onEnd).once('error', onBroken).once('close', onBroken)
  return () => {
    request.off('data', onData).off('end', onEnd).off('close', onBroken)
    chunks.length = 0
    // Read on, so that the caller of a refused body gets the answer instead of a broken connection.
    if (!request.isPaused()) request.resume()
  }
}
