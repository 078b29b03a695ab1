import { once } from 'node:events'

const signals = ['SIGTERM', 'SIGINT'] as const

/** Resolves on SIGTERM, on Ctrl-C, or when the signal `lost` is aborted. It then removes its listeners. */
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
  readonly onSignal: (name: string) => void
  readonly close: () => Promise<void>
}

/**
 * Waits as `untilStopped` does, then closes the service. Reports and ignores further signals: a second signal would
 * kill the process and cut answers in progress. npm and some supervisors send every signal twice.
 */
export async function closeWhenStopped(lost: AbortSignal, { onStopping, onSignal, close }: Stop): Promise<void> {
  let isStopping = false
  // Keep this listener from the start, because a signal without a listener kills the process.
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
