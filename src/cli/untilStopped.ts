import { once } from 'node:events'

/** Resolves on SIGTERM or Ctrl-C, or when the signal is aborted. */
export async function untilStopped(lost?: AbortSignal): Promise<void> {
  const reported = (['SIGTERM', 'SIGINT'] as const).map((signal) => once(process, signal))
  const ended = lost === undefined ? [] : [lost.aborted ? Promise.resolve() : once(lost, 'abort')]
  await Promise.race([...reported, ...ended])
}
