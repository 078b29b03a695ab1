import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type ByteRange, readByteRange } from './byteRange.ts'
import type { PublicBody } from './publicBody.ts'
import { isNegotiable } from './requestHead.ts'
import { errorAnswer } from './transportError.ts'

export interface FileBody {
  readonly size: number
  /** Without quotes. */
  readonly entityTag: string
  /** Reads the range. Without a range, reads the whole file. */
  read(range?: ByteRange): Readable
}

export function sendPublicBody(context: Context, { bytes, entityTag, coded }: PublicBody): void {
  // Prefer br, as in `contentCodings`, because it is smaller than gzip.
  const codings = isNegotiable(context, 'accept-encoding') ? [...coded.keys()] : []
  const coding = codings.find((each) => context.acceptsEncodings(each) === each)
  if (coded.size > 0) context.vary('accept-encoding')
  // A strong tag identifies exact bytes, so it contains the coding.
  const tag = coding === undefined ? `"${entityTag}"` : `"${entityTag}-${coding}"`
  context.set('etag', tag)
  if (isUnchanged(context, tag)) return
  if (coding !== undefined) context.set('content-encoding', coding)
  context.body = (coding === undefined ? undefined : coded.get(coding)) ?? bytes
}

/** Sends the file, or the requested range of it. A request for several ranges gets the whole file. */
export function sendFile(context: Context, file: FileBody): void {
  const { size, entityTag } = file
  const tag = `"${entityTag}"`
  context.set({ etag: tag, 'accept-ranges': 'bytes' })
  if (isUnchanged(context, tag)) return
  const range = readRange(context, size, tag)
  if (range === 'unsatisfiable') return refuseRange(context, size)
  if (range !== undefined) {
    context.status = 206
    context.set('content-range', `bytes ${range.start}-${range.end}/${size}`)
  }
  context.body = file.read(range)
  context.length = range === undefined ? size : range.end - range.start + 1
}

/**
 * Sets the 304 and returns true if the client already has the content. Koa's `fresh` never holds with `Cache-Control:
 * no-cache`, which `fetch` adds to each `If-None-Match` of its caller.
 */
function isUnchanged(context: Context, tag: string): boolean {
  const known = context.get('if-none-match').split(',')
  if (!known.some((each) => ['*', tag, `W/${tag}`].includes(each.trim()))) return false
  context.status = 304
  context.remove('content-type')
  return true
}

/** Reads the requested range. Only GET has ranges. If `If-Range` has another tag or a date, the whole file is sent. */
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
