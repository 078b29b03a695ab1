import type { Answer } from '../paywall/answer.ts'
import { type PublicAnswer, publicAnswer } from './publicAnswer.ts'
import { contentCodings, preparePublicBody, type PublicBody } from './publicBody.ts'
import { errorAnswer } from './transportError.ts'

/** The first request compresses the file, because most instances never serve it. */
export interface StaticFile {
  readonly contentType: string
  readonly prepared: () => Promise<PublicBody>
}

type Content = string | Buffer

/** Creates a static file. If `content` is a function, the first request calls it. Images are not compressed. */
export function createStaticFile(contentType: string, content: Content | (() => Promise<Content>)): StaticFile {
  const codings = contentType.startsWith('image/') ? [] : contentCodings
  let body: Promise<PublicBody> | undefined
  const prepare = async () => preparePublicBody(typeof content === 'function' ? await content() : content, { codings })
  const prepared = () => {
    body ??= prepare().catch((error: unknown) => {
      body = undefined
      throw error
    })
    return body
  }
  return { contentType, prepared }
}

/** Returns the file with this name. Names are keys of a map and never part of a path. */
export async function serveStaticFile(
  files: ReadonlyMap<string, StaticFile>,
  name: string,
  cacheControl: string,
): Promise<PublicAnswer | Answer> {
  const file = files.get(name)
  if (file === undefined) return errorAnswer('NOT_FOUND', 'this file does not exist')
  return publicAnswer(await file.prepared(), { 'content-type': file.contentType, 'cache-control': cacheControl })
}
