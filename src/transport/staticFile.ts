import type { Answer } from '../paywall/answer.ts'
import { contentCodings } from './contentCoding.ts'
import { type PublicAnswer, publicAnswer } from './publicAnswer.ts'
import { preparePublicBody, type PublicBody } from './publicBody.ts'
import { errorAnswer } from './transportError.ts'

/** A file of a page. It is compressed for the first caller, because most instances never serve it. */
export interface StaticFile {
  readonly contentType: string
  readonly prepared: () => Promise<PublicBody>
}

type Content = string | Buffer

/** A file in memory, or one that is made for its first caller. Compressed on its first request; images are sent as they are. */
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
