import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type ByteRange, readByteRange } from './byteRange.ts'
import { chooseCoding } from './contentCoding.ts'
import type { PublicBody } from './publicBody.ts'
import { errorAnswer } from './transportError.ts'

/** A file that is read from storage while it is sent, whole or in part. */
export interface FileBody {
  readonly size: number
  /** Without quotes. */
  readonly entityTag: string
  /** Opens the storage when the first byte is read. */
  read(range?: ByteRange): Readable
}

/** Sends the form of the body that the client prefers, or 304 when the client has it. */
export function sendPublicBody(context: Context, { bytes, entityTag, coded }: PublicBody): void {
  const coding = chooseCoding(context.get('accept-encoding'), [...coded.keys()])
  if (coded.size > 0) context.vary('accept-encoding')
  // Each form has its own tag: a strong one names bytes.
  context.set('etag', coding === undefined ? `"${entityTag}"` : `"${entityTag}-${coding}"`)
  if (isUnchanged(context)) return
  if (coding !== undefined) context.set('content-encoding', coding)
  context.body = (coding === undefined ? undefined : coded.get(coding)) ?? bytes
}

/** Sends a file, one range of it, or 304 when the client has it. A request for several ranges gets the whole file. */
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

/** True when it has answered with 304. */
function isUnchanged(context: Context): boolean {
  if (!context.fresh) return false
  context.status = 304
  context.remove('content-type')
  return true
}

/** Only GET has ranges. `If-Range` with another tag, or with a date, asks for the whole file if it has changed. */
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
