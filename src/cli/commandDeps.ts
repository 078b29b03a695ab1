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
  /** Signal that Ctrl-C aborts. */
  readonly interrupted: AbortSignal
  readonly clock: Clock
}
