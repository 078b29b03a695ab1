import { once } from 'node:events'

const signals = ['SIGTERM', 'SIGINT'] as const

/** Resolves on SIGTERM or Ctrl-C, or when the signal is aborted, and removes its listeners. */
export async function untilStopped(lost?: AbortSignal): Promise<void> {
  if (lost?.aborted === true) return
  const over = new AbortController()
  const { signal } = over
  const reported = signals.map((name) => once(process, name, { signal }))
  const ended = lost === undefined ? [] : [once(lost, 'abort', { signal })]
  try {
    await Promise.race([...reported, ...ended])
  } finally {
    over.abort()
  }
}

/**
 * Closes after a signal. Further signals are reported and ignored: without a listener the second one would kill the process and
 * cut answers that are still streamed. npm and some supervisors send every signal twice.
 */
export async function closeInPeace(close: () => Promise<void>, onSignal: (name: string) => void): Promise<void> {
  for (const name of signals) process.on(name, onSignal)
  try {
    await close()
  } finally {
    for (const name of signals) process.off(name, onSignal)
  }
}
