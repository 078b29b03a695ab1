import type { Clock } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import type { FreeAnswer, FreeRoute } from '../transport/freeRoute.ts'
import type { FileBody } from '../transport/sendConditionally.ts'
import { errorAnswer } from '../transport/transportError.ts'
import { unlessSilent } from './unlessSilent.ts'

/** Files for which callers have paid. Anyone with the random name of a file can download it. */
export interface Artifacts {
  /** Throws a `Fault` if the storage fails. */
  find(name: string): Promise<ServedArtifact | undefined>
}

export interface ServedArtifact extends Omit<FileBody, 'entityTag'> {
  readonly contentType: string
  readonly expiresAtMs: number
}

/**
 * Serves an artifact. The route is free, because the file was paid for when it was made. Anyone who has the address of
 * the file may download it until it expires.
 */
export function artifactRoute(
  artifacts: Artifacts,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): FreeRoute {
  const error = 'the storage of results did not answer; try again in 2 s'
  return {
    path: '/artifacts/:name',
    serve: ({ segment }) =>
      unlessSilent({ log, event: 'artifact_unreadable', error }, async () => {
        const found = await artifacts.find(segment)
        return found === undefined
          ? errorAnswer('NOT_FOUND', 'this artifact does not exist or has expired; order it again')
          : answer(segment, found, clock.nowMs())
      }),
  }
}

function answer(name: string, artifact: ServedArtifact, nowMs: number): FreeAnswer {
  const { contentType, size, expiresAtMs, read } = artifact
  // Offer a PDF as a download, because a browser's PDF viewer does not work in a sandbox.
  const disposition = contentType === 'application/pdf' ? 'attachment' : 'inline'
  const secondsLeft = Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000))
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-disposition': `${disposition}; filename="${name}"`,
      // Forbid scripts and requests, because the file shows a page of another site under the origin of the service.
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': `private, max-age=${secondsLeft}, immutable`,
    },
    // Use the name as entity tag: it is random, and its content never changes.
    body: { size, read, entityTag: name },
  }
}
