import { type Log, silentLog } from '../machine/log.ts'

const signals = ['SIGTERM', 'SIGINT'] as const

export interface Stop {
  /** Closes the program as a signal does. */
  readonly lost?: AbortSignal
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly close: () => Promise<void>
}

/**
 * Waits for SIGTERM, Ctrl-C or `lost`, then closes the program. Logs and ignores further signals, because npm and some
 * supervisors send a signal twice. A second signal would otherwise kill the process and cut answers in progress.
 */
export async function closeWhenStopped({ lost, log, close }: Stop): Promise<void> {
  const first = Promise.withResolvers<void>()
  let isStopping = false
  const onSignal = (signal: string): void => {
    if (isStopping) log.warn({ event: 'still_stopping', signal })
    isStopping = true
    first.resolve()
  }
  // Listen until everything is closed, because a signal without a listener kills the process.
  for (const name of signals) process.on(name, onSignal)
  lost?.addEventListener('abort', () => first.resolve())
  if (lost?.aborted === true) first.resolve()
  try {
    await first.promise
    isStopping = true
    log.info({ event: 'stopping' })
    await close()
    log.info({ event: 'stopped' })
  } finally {
    for (const name of signals) process.off(name, onSignal)
  }
}

/**
 * Makes a program stop when its stdin ends, because the process that started it has then ended, even if it was killed.
 * That process also read the log, and at exit pino repeats a write to a closed pipe without end. So nothing is logged.
 */
export function endWithParent(isWanted: boolean, log: Stop['log']): Pick<Stop, 'lost' | 'log'> {
  if (!isWanted) return { log }
  const ended = new AbortController()
  process.stdin.resume().once('end', () => ended.abort())
  return { lost: ended.signal, log: silentLog }
}
