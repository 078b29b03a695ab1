import { type Command, CommanderError } from 'commander'
import type { CommandDeps } from './commandDeps.ts'
import { didYouMean } from './mistypedOption.ts'
import { usageExitCode } from './runCommand.ts'

/**
 * Gives wrong usage the same exit code and a complete message in every command and subcommand. Commander itself reports
 * only the first missing argument and does not mention the help. If a command has an action, Commander also takes a
 * mistyped subcommand for an argument.
 */
export function prepareCommand(command: Command, deps: Pick<CommandDeps, 'stdout' | 'stderr'>): Command {
  command.exitOverride(rethrowAsUsage).configureOutput({
    writeOut: (text) => void deps.stdout.write(text),
    writeErr: (text) => void deps.stderr.write(text),
    outputError(text, write) {
      write(`${missingText(command, text) ?? unknownText(command, text) ?? text.trimEnd()}\n`)
      write(`${pathOf(command)} --help explains the command.\n`)
    },
  })
  for (const below of command.commands) prepareCommand(below, deps)
  return command
}

/**
 * Throws the error with the exit code of wrong usage, because Commander exits with 1, as after a failure. After help,
 * the exit code stays 0.
 */
function rethrowAsUsage({ exitCode, code, message }: CommanderError): never {
  throw new CommanderError(exitCode === 0 ? 0 : usageExitCode, code, message)
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

/** Returns the message for a mistyped subcommand, which Commander reports as too many arguments. */
function unknownText(command: Command, text: string): string | undefined {
  const [given = ''] = command.args
  const known = command.commands.map((below) => below.name())
  if (known.length === 0 || !text.startsWith('error: too many arguments')) return undefined
  return `error: unknown command '${given}'${didYouMean(given, known) ?? ''}`
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
