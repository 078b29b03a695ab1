import { systemClock } from '@tollbook/core/clock'

const startedAtMs = systemClock.monotonicMs()

/** One line of progress, with the seconds since the start. */
export function say(line: string): void {
  const seconds = Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)
  process.stdout.write(`${String(seconds).padStart(4)} s  ${line}\n`)
}

export interface Verdict {
  readonly holds: boolean
  readonly lines: readonly string[]
}

/** The last lines of a proof; the process ends with 0 only when it holds. */
export function concludeProof({ holds, lines }: Verdict): void {
  for (const line of lines) say(line)
  say(holds ? 'VERDICT: holds' : 'VERDICT: BROKEN')
  process.exitCode = holds ? 0 : 1
}

// Neither 0 nor what a broken proof ends with: nothing was shown.
export const notRunExitCode = 2

/** The machine lacks what the proof needs; one line says what. */
export function couldNotRun(why: string): void {
  say(`VERDICT: not run: ${why}`)
  process.exitCode = notRunExitCode
}
