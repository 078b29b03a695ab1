import { once } from 'node:events'

/** Resolves on SIGTERM or Ctrl-C, or when the signal is aborted, and removes its listeners. */
export async function untilStopped(lost?: AbortSignal): Promise<void> {
  if (lost?.aborted === true) return
  const over = new AbortController()
  const { signal } = over
  const reported = (['SIGTERM', 'SIGINT'] as const).map((name) => once(process, name, { signal }))
  const ended = lost === undefined ? [] : [once(lost, 'abort', { signal })]
  try {
    await Promise.race([...reported, ...ended])
  } finally {
    over.abort()
  }
}
