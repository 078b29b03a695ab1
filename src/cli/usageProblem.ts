/** The exit code of a command that was used wrongly. */
export const usageExitCode = 2

/** The command was used wrongly. The message names the option and what would be right. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
  }
}
