import type { Command } from 'commander'
import { closestMatch } from 'leven'
import { usageExitCode } from './runCommand.ts'

// Same distance as in Commander, so that all commands suggest alike.
const distanceMax = 3

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
    const meant = isKnown ? undefined : closestMatch(option, names, { maxDistance: distanceMax })
    if (meant === undefined) continue
    const message = `error: unknown option '${option}'\n(Did you mean ${meant}?)`
    command.error(message, { exitCode: usageExitCode, code: 'commander.unknownOption' })
  }
}
