import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type ByteRange, readByteRange } from './byteRange.ts'
import type { PublicBody } from './publicBody.ts'
import { isNegotiable } from './requestHead.ts'
import { errorAnswer } from './transportError.ts'

/** A file that is streamed from storage, as a whole or as a range. */
export interface FileBody {
  readonly size: number
  /** Entity tag without quotes. */
  readonly entityTag: string
  /** Returns a stream of the file or of a range. The stream opens the storage at the first read. */
  read(range?: ByteRange): Readable
}

/** Sends the body in a form that the client accepts, or 304 if the client already has it. */
export function sendPublicBody(context: Context, { bytes, entityTag, coded }: PublicBody): void {
  // Choose the smallest form that the client accepts.
  const codings = isNegotiable(context, 'accept-encoding') ? [...coded.keys()] : []
  const coding = codings.find((each) => context.acceptsEncodings(each) === each)
  if (coded.size > 0) context.vary('accept-encoding')
  // Add the coding to the tag, because a strong tag identifies exact bytes.
  context.set('etag', coding === undefined ? `"${entityTag}"` : `"${entityTag}-${coding}"`)
  if (isUnchanged(context)) return
  if (coding !== undefined) context.set('content-encoding', coding)
  context.body = (coding === undefined ? undefined : coded.get(coding)) ?? bytes
}

/** Sends a file, one range of it, or 304 if the client already has it. A request for several ranges gets the whole file. */
export function sendFile(context: Context, file: FileBody): void {
  const { size, entityTag } = file
  const tag = `"${entityTag}"`
  context.set({ etag: tag, 'accept-ranges': 'bytes' })
  if (isUnchanged(context)) return
  const range = readRange(context, size, tag)
  if (range === 'unsatisfiable') return refuseRange(context, size)
  if (range !== undefined) {
    context.status = 206
    context.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  }
  context.body = file.read(range)
  context.length = range === undefined ? size : range.end - range.start + 1
}

/** Answers 304 if the client already has the content. Returns true in this case. */
function isUnchanged(context: Context): boolean {
  if (!context.fresh) return false
  context.status = 304
  context.remove('content-type')
  return true
}

/**
 * Reads the range of a GET, because other methods have no ranges. If `If-Range` has another tag or a date, the whole
 * file is sent.
 */
function readRange(context: Context, size: number, tag: string): ByteRange | 'unsatisfiable' | undefined {
  const condition = context.get('if-range')
  if (context.method !== 'GET' || (condition !== '' && condition !== tag)) return undefined
  return readByteRange(context.get('range'), size)
}

function refuseRange(context: Context, size: number): void {
  const { status, headers, body } = errorAnswer(
    'RANGE_NOT_SATISFIABLE',
    `\`Range\` must begin within the ${size} bytes of the file`,
    { headers: { 'content-range': `bytes */${size}` } },
  )
  for (const name of ['etag', 'content-disposition']) context.remove(name)
  context.status = status
  context.set(headers)
  context.body = body
}
