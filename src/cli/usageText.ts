import type { Command } from 'commander'
import { closestMatch } from 'leven'

const distanceMax = 3

/**
 * Makes the errors of a command complete: Commander names one missing argument at a time, takes a mistyped command below one with an
 * action for an argument, and does not name the help.
 */
export function completeUsageErrors(command: Command): void {
  command.configureOutput({
    outputError(text, write) {
      write(`${missingText(command, text) ?? unknownText(command, text) ?? text.trimEnd()}\n`)
      write(`${pathOf(command)} --help explains the command.\n`)
    },
  })
}

function missingText(command: Command, text: string): string | undefined {
  if (!/^error: (?:missing required argument|required option)/.test(text)) return undefined
  const positional = command.registeredArguments.slice(command.args.length).filter(({ required }) => required)
  const options = command.options.filter(
    (option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  )
  const names = [...positional.map((argument) => `<${argument.name()}>`), ...options.map(({ flags }) => flags)]
  return `error: missing: ${names.join(', ')}`
}

function unknownText(command: Command, text: string): string | undefined {
  const [given = ''] = command.args
  const known = command.commands.map((below) => below.name())
  if (known.length === 0 || !text.startsWith('error: too many arguments')) return undefined
  const meant = closestMatch(given, known, { maxDistance: distanceMax })
  return `error: unknown command '${given}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
