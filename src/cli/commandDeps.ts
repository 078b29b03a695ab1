import type { OutputStream } from '@tollbook/client/command/commandDeps'
import type { Clock } from '@tollbook/core/clock'

export interface CommandDeps {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /**
   * Folder of `local.json` and of stored payments (TOLLBOOK_HOME). A function, because the variable is read only when
   * the command runs.
   */
  readonly home: () => string
  readonly setExitCode: (code: number) => void
  /** Ctrl-C aborts this signal and not the process, so that a payer can still report the state of its payment. */
  readonly interrupted: AbortSignal
  readonly clock: Clock
}
