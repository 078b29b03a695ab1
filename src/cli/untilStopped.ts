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

export interface Stop {
  readonly onStopping: () => void
  /** Another signal, which is ignored. */
  readonly onSignal: (name: string) => void
  readonly close: () => Promise<void>
}

/**
 * Waits as `untilStopped` does, then closes. Further signals are reported and ignored: the second one would kill the process and
 * cut answers that are still streamed. npm and some supervisors send every signal twice.
 */
export async function closeWhenStopped(lost: AbortSignal, { onStopping, onSignal, close }: Stop): Promise<void> {
  let isStopping = false
  // Listens from the beginning: without any listener a signal kills the process.
  const listener = (name: string): void => {
    if (isStopping) onSignal(name)
  }
  for (const name of signals) process.on(name, listener)
  try {
    await untilStopped(lost)
    isStopping = true
    onStopping()
    await close()
  } finally {
    for (const name of signals) process.off(name, listener)
  }
}
