import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { sha256 } from '@tollbook/core/digest'

/** Supported codings, the one with the smallest forms first. */
export const contentCodings = ['br', 'gzip'] as const
export type ContentCoding = (typeof contentCodings)[number]

/** A body that is prepared once and sent many times. */
export interface PublicBody {
  readonly bytes: Buffer
  /** Without quotes. All instances use the same tag for the same content. */
  readonly entityTag: string
  /** Only forms that are smaller than the bytes are included. */
  readonly coded: ReadonlyMap<ContentCoding, Buffer>
}

export interface PublicBodyOptions {
  /** Empty for content that does not compress, such as hashes and images. */
  readonly codings?: readonly ContentCoding[]
  /** Absent: 1 kB, because a smaller body already fits into one packet. */
  readonly codedBytesMin?: number
}

// Not higher, because higher qualities take much longer and save only a few per cent.
const brotliQuality = 5
const tagBytes = 16

const zip = promisify(gzip)
const brotli = promisify(brotliCompress)

/** Prepares the body and its compressed forms. Compression runs outside of the event loop. */
export async function preparePublicBody(
  content: string | Buffer,
  { codings = contentCodings, codedBytesMin = 1_024 }: PublicBodyOptions = {},
): Promise<PublicBody> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const entityTag = Buffer.from(sha256(bytes).subarray(0, tagBytes)).toString('base64url')
  const coded = new Map<ContentCoding, Buffer>()
  for (const coding of bytes.length < codedBytesMin ? [] : codings) {
    const form = await compress[coding](bytes)
    if (form.length < bytes.length) coded.set(coding, form)
  }
  return { bytes, entityTag, coded }
}

const compress: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (bytes) => zip(bytes),
}
