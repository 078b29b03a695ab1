import { CommanderError } from 'commander'

/** The exit code of a command that was used wrongly. */
export const usageExitCode = 2

/** The command was used wrongly. The message names the option and what would be right. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
  }
}

/** Commander exits with 1 for what is a usage problem, and with 0 after help. */
export function rethrowAsUsage({ exitCode, code, message }: CommanderError): never {
  throw new CommanderError(exitCode === 0 ? 0 : usageExitCode, code, message)
}
