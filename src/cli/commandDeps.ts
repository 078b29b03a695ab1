import type { Clock } from '@tollbook/core/clock'

export interface OutputStream {
  write(text: string): unknown
  /** Somebody reads along, so words; otherwise a program does, so JSON. */
  readonly isTTY?: boolean
}

/** What a command of the payer needs of the process it runs in. */
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
