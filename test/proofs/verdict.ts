import { parseArgs } from 'node:util'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'

const startedAtMs = systemClock.monotonicMs()

/** One line of progress, with the seconds since the start. */
export function say(line: string): void {
  const seconds = Math.round((systemClock.monotonicMs() - startedAtMs) / 1000)
  process.stdout.write(`${String(seconds).padStart(4)} s  ${line}\n`)
}

/** `--name N` on the command line for each number of the defaults; `--help` prints the usage and ends the process. */
export function readOptions<T extends Readonly<Record<string, number>>>(defaults: T, usage = ''): T {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }]))
  const { values: given } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
  const { help, ...values } = given
  if (help === true) {
    process.stdout.write(`${usage === '' ? `options: ${Object.keys(defaults).join(', ')}` : usage}\n`)
    process.exit(0)
  }
  const numbers = Object.entries(values).map(([name, value]): [string, number] => {
    assert(typeof value === 'string' && /^\d{1,7}$/.test(value), `--${name} is a whole number`)
    return [name, Number(value)]
  })
  return { ...defaults, ...Object.fromEntries(numbers) }
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
const notRunExitCode = 2

/** The machine lacks what the proof needs; one line says what. */
export function couldNotRun(why: string): void {
  say(`VERDICT: not run: ${why}`)
  process.exitCode = notRunExitCode
}
