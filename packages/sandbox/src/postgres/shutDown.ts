import { Fault } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import { poll } from './poll.ts'

export interface ShutDownOptions {
  readonly pid: number
  readonly send: (signal: NodeJS.Signals) => void
  readonly hasEnded: () => boolean | Promise<boolean>
  readonly log: Log
}

/** Ends a postmaster: politely, then firmly, then by force. All three keep what was committed. */
export async function shutDown(options: ShutDownOptions): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (await options.hasEnded()) return
    options.send(signal)
    const ended = await poll({ probe: async () => (await options.hasEnded()) || undefined, timeoutMs: waitMs })
    if (ended) return
    options.log.warn({ event: 'embedded_postgres_slow_shutdown', postmasterPid: options.pid, signal, waitMs })
  }
  throw new Fault(`Postgres (process ${options.pid}) does not end, not even by SIGKILL`, { retryable: false })
}

const steps = [
  // Fast: sessions are cut, a checkpoint is written. 13 to 37 ms as a rule, longer when much is dirty.
  { signal: 'SIGINT', waitMs: 20_000 },
  // Immediate: no checkpoint, recovery at the next start. After 5 s the postmaster kills stubborn children itself.
  { signal: 'SIGQUIT', waitMs: 8_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const
