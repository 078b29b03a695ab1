import type { OutputStream } from '@tollbook/client/command/commandDeps'
import type { Clock } from '@tollbook/core/clock'

/** Dependencies of the payer's commands on the process. */
export interface CommandDeps {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** TOLLBOOK_HOME: where `local.json` is, and where payments are kept. Asked when the command runs. */
  readonly home: () => string
  readonly setExitCode: (code: number) => void
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal
  readonly clock?: Clock
}
