import type { Answer } from '../paywall/answer.ts'
import { contentCodings } from './contentCoding.ts'
import { type PublicAnswer, publicAnswer } from './publicAnswer.ts'
import { preparePublicBody, type PublicBody } from './publicBody.ts'
import { errorAnswer } from './transportError.ts'

/** A file of a page, read at the start. It is compressed for the first caller, because most instances never serve it. */
export interface StaticFile {
  readonly contentType: string
  readonly bytes: Buffer
  readonly prepared: () => Promise<PublicBody>
}

/** A file in memory. Compressed on its first request; images are sent as they are. */
export function createStaticFile(contentType: string, content: string | Buffer): StaticFile {
  const bytes = Buffer.from(content)
  const codings = contentType.startsWith('image/') ? [] : contentCodings
  let body: Promise<PublicBody> | undefined
  return { contentType, bytes, prepared: () => (body ??= preparePublicBody(bytes, { codings })) }
}

/** 404 for a name that is not among the files. Names are looked up, never joined to a path. */
export async function serveStaticFile(
  files: ReadonlyMap<string, StaticFile>,
  name: string,
  cacheControl: string,
): Promise<PublicAnswer | Answer> {
  const file = files.get(name)
  if (file === undefined) return errorAnswer('NOT_FOUND', 'this file does not exist')
  return publicAnswer(await file.prepared(), { 'content-type': file.contentType, 'cache-control': cacheControl })
}
