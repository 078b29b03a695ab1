import type { OutputStream } from '@tollbook/client/command/commandDeps'
import type { Clock } from '@tollbook/core/clock'

export interface CommandDeps {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /**
   * Returns the folder of `local.json` and of stored payments (TOLLBOOK_HOME). The variable is read only when the
   * command runs, so that the help works with a wrong configuration.
   */
  readonly home: () => string
  readonly setExitCode: (code: number) => void
  /** Ctrl-C aborts this signal and not the process, so that a payer can still report the state of its payment. */
  readonly interrupted: AbortSignal
  readonly clock: Clock
}
