import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FreeAnswer } from './freeRoutes.ts'

const zip = promisify(gzip)

/** A body of bytes, compressed for a client that takes gzip. A cache must know that there are two forms of it. */
export async function inCodingOf(
  acceptEncoding: string,
  answer: FreeAnswer & { readonly body: Buffer },
): Promise<FreeAnswer> {
  const headers = { ...answer.headers, vary: 'accept-encoding' }
  if (!takesGzip(acceptEncoding)) return { ...answer, headers }
  return { ...answer, headers: { ...headers, 'content-encoding': 'gzip' }, body: await zip(answer.body) }
}

/** RFC 9110, 12.5.3, for gzip alone: it is listed, and its weight is not zero. */
function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((coding) => {
    const [name = '', weight = 'q=1'] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !/^q=0(\.0*)?$/.test(weight)
  })
}
