import type { Clock } from '@tollbook/core/clock'
import type { FreeAnswer, FreeRoute } from '../transport/freeRoute.ts'
import type { FileBody } from '../transport/sendConditionally.ts'
import { errorAnswer } from '../transport/transportError.ts'

/** Files that were made for callers and are fetched by their address. */
export interface Artifacts {
  find(name: string): Promise<ServedArtifact | undefined>
}

export interface ServedArtifact extends Omit<FileBody, 'entityTag'> {
  readonly contentType: string
  readonly expiresAtMs: number
}

/** Free: the file was paid for when it was made. A client that has its address may fetch it until it expires. */
export function artifactRoute(artifacts: Artifacts, clock: Clock): FreeRoute {
  return {
    path: '/artifacts/:name',
    async serve({ segment }) {
      const found = await artifacts.find(segment)
      if (found === undefined)
        return errorAnswer('NOT_FOUND', 'this artifact does not exist or has expired; order it again')
      return answer(segment, found, clock.nowMs())
    },
  }
}

function answer(name: string, artifact: ServedArtifact, nowMs: number): FreeAnswer {
  const { contentType, size, expiresAtMs, read } = artifact
  // A browser's PDF viewer does not work in a sandbox, so a document is handed over to be saved.
  const disposition = contentType === 'application/pdf' ? 'attachment' : 'inline'
  const secondsLeft = Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000))
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-disposition': `${disposition}; filename="${name}"`,
      // The file shows a page of another site: it may run nothing and load nothing under our origin.
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': `private, max-age=${secondsLeft}, immutable`,
    },
    // The name is random and belongs to one content.
    body: { size, read, entityTag: name },
  }
}
