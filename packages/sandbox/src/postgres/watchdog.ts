import type { ChildProcess } from 'node:child_process'
import type { Log } from '@tollbook/localnet/log'
import { type Account, spawnAs } from './account.ts'

/** Ends the guarded process when we end, however we end: also after a kill -9, which no handler of ours would see. */
export interface Watchdog {
  guard(pid: number): void
  /** Called when that process has ended, so that a later owner of its pid is safe. */
  release(pid: number): void
  end(): void
}

/**
 * A shell that reads pids from our pipe. The kernel closes the pipe when we die; the shell then sends SIGINT,
 * Postgres's fast shutdown, to the last pid it received. It costs one sleeping `sh` and works wherever sh does. (The
 * kernel's own PR_SET_PDEATHSIG would need no process, but is Linux only and follows the thread, not the process.)
 */
export function startWatchdog(account: Account, log: Log): Watchdog {
  const shell = spawnAs(account, { program: '/bin/sh', arguments: ['-c', script], stdio: ['pipe', 'ignore', 'ignore'] })
  let guarded: number | undefined
  let isEnding = false
  const tell = (pid: number | undefined): void => {
    guarded = pid
    shell.stdin?.write(`${pid ?? ''}\n`)
  }
  warnOfLoss(shell, () => {
    if (!isEnding) log.warn({ event: 'embedded_postgres_watchdog_lost', guardedPid: guarded })
  })
  return {
    guard: tell,
    release: (pid) => {
      if (guarded === pid) tell(undefined)
    },
    end: () => {
      isEnding = true
      shell.stdin?.end()
    },
  }
}

const script = 'pid=; while read -r line; do pid=$line; done; [ -z "$pid" ] || kill -INT "$pid"'

/** Without it Postgres still runs; only a kill -9 of us would then leave an orphan, which the next start stops. */
function warnOfLoss(shell: ChildProcess, onLoss: () => void): void {
  shell.once('error', onLoss)
  shell.once('exit', onLoss)
  // A write to a shell that has just gone fails with EPIPE; its exit has been reported above.
  shell.stdin?.on('error', () => undefined)
}
