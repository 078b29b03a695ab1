import type { Readable } from 'node:stream'
import type { Clock } from '@tollbook/core/clock'
import type { FreeAnswer, FreeRoute } from './freeRoutes.ts'
import { errorAnswer } from './transportError.ts'

/** What was made for a caller and is fetched by its address. */
export interface Artifacts {
  find(name: string): Promise<ServedArtifact | undefined>
}

export interface ServedArtifact {
  readonly contentType: string
  readonly size: number
  readonly expiresAtMs: number
  readonly body: Readable
}

/** Free, because it was paid for when it was made; whoever has the address may fetch it until it expires. */
export function artifactRoute(artifacts: Artifacts, clock: Clock): FreeRoute {
  return {
    path: '/artifacts/:name',
    async serve({ segment }) {
      const found = await artifacts.find(segment)
      if (found === undefined) return errorAnswer('NOT_FOUND', 'there is no such artifact, or it has expired')
      return answer(segment, found, clock.nowMs())
    },
  }
}

function answer(name: string, { contentType, size, expiresAtMs, body }: ServedArtifact, nowMs: number): FreeAnswer {
  // A browser's PDF viewer does not work in a sandbox, so a document is handed over to be saved.
  const disposition = contentType === 'image/png' ? 'inline' : 'attachment'
  const secondsLeft = Math.max(0, Math.floor((expiresAtMs - nowMs) / 1000))
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-length': String(size),
      'content-disposition': `${disposition}; filename="${name}"`,
      // It is made of somebody else's page: it may run nothing and load nothing under our name.
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': `private, max-age=${secondsLeft}, immutable`,
    },
    body,
  }
}
