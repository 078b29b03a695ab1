import type { Command } from 'commander'
import { closestMatch } from 'leven'
import { usageExitCode } from './runCommand.ts'

/**
 * Suggests a similar name. Commander allows the same distance for the names that it parses, so that all commands
 * suggest alike.
 */
export function didYouMean(given: string, names: readonly string[]): string | undefined {
  const meant = closestMatch(given, names, { maxDistance: 3 })
  return meant === undefined ? undefined : `\n(Did you mean ${meant}?)`
}

/**
 * Refuses a mistyped option of a command from another package, and suggests a name. Such a command parses its own
 * arguments and makes no suggestion. Commander does this for the options that it parses.
 */
export function refuseMistyped(command: Command, names: readonly string[]): void {
  const end = command.args.indexOf('--')
  const words = end === -1 ? command.args : command.args.slice(0, end)
  for (const word of words) {
    const [option = ''] = word.split('=')
    const isKnown = !option.startsWith('--') || names.includes(option)
    const meant = isKnown ? undefined : didYouMean(option, names)
    if (meant === undefined) continue
    command.error(`error: unknown option '${option}'${meant}`, { exitCode: usageExitCode })
  }
}
