import { readFile } from 'node:fs/promises'
import { encodeBase64 } from '@tollbook/core/base64'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { systemClock } from '@tollbook/core/clock'

/** Every checkpoint that a server publishes or keeps in its file, as an outsider sees them. */
export interface CheckpointWatch {
  /** Sizes for which two roots were signed. */
  conflicts(): readonly number[]
  /** Times that a file moved back. */
  moves(): number
  seen(): number
  stop(): Promise<void>
}

export interface WatchedServer {
  readonly baseUrl: string
  readonly file: string
}

const everyMs = 100

export function watchCheckpoints(servers: readonly WatchedServer[]): CheckpointWatch {
  const roots = new Map<number, Set<string>>()
  let movesBack = 0
  const stopping = new AbortController()
  const note = (text: string | undefined): number | undefined => {
    const checkpoint = text === undefined ? undefined : readCheckpoint(text)
    if (checkpoint === undefined) return undefined
    const known = roots.get(checkpoint.size) ?? new Set()
    roots.set(checkpoint.size, known.add(encodeBase64(checkpoint.root)))
    return checkpoint.size
  }
  const watch = async ({ baseUrl, file }: WatchedServer): Promise<void> => {
    let greatest = 0
    while (!stopping.signal.aborted) {
      const size = note(await readFile(file, 'utf8').catch(() => undefined))
      if (size !== undefined && size < greatest) movesBack++
      greatest = Math.max(greatest, size ?? 0)
      note(await published(baseUrl))
      await systemClock.sleep(everyMs)
    }
  }
  const watching = servers.map(watch)
  return {
    conflicts: () => [...roots].filter(([, known]) => known.size > 1).map(([size]) => size),
    moves: () => movesBack,
    seen: () => roots.size,
    async stop() {
      stopping.abort()
      await Promise.all(watching)
    },
  }
}

const answerTimeoutMs = 2_000

async function published(baseUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${baseUrl}/checkpoint`, { signal: AbortSignal.timeout(answerTimeoutMs) })
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}
