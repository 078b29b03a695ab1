import type { CommandDeps } from '../../src/cli/commandDeps.ts'
import { payoutCommand } from '../../src/cli/payout.ts'
import { prepareCommand } from '../../src/cli/prepareCommand.ts'
import type { Clock } from '@tollbook/core/clock'

export interface Ran {
  readonly code: number
  /** Lines of stdout. */
  readonly lines: readonly string[]
  /** Text of stderr. */
  readonly complaint: string
}

interface RunOptions {
  /** Called with each text that the command writes to stderr, and with the function that interrupts it. */
  readonly onComplaint?: (text: string, interrupt: () => void) => void
}

/** Runs `tollbook payout` in this process, with the clock of the fixture. */
export async function runPayoutCommand(
  { clock }: { readonly clock: Clock },
  folder: string,
  words: readonly string[],
  { onComplaint }: RunOptions = {},
): Promise<Ran> {
  const [said, complained]: [string[], string[]] = [[], []]
  const interrupted = new AbortController()
  let code = 0
  const deps: CommandDeps = {
    stdout: { write: (text) => said.push(text) },
    stderr: {
      write(written) {
        complained.push(written)
        onComplaint?.(written, () => interrupted.abort())
      },
    },
    home: () => folder,
    setExitCode: (exitCode) => void (code = exitCode),
    interrupted: interrupted.signal,
    clock: {
      ...clock,
      sleep(durationMs, signal) {
        signal?.throwIfAborted()
        return clock.sleep(durationMs)
      },
    },
  }
  await prepareCommand(payoutCommand(deps), deps).parseAsync([...words], { from: 'user' })
  return { code, lines: said.join('').trim().split('\n'), complaint: complained.join('') }
}
