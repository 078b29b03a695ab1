/** The command was not called correctly. The message names the option and what would be right. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
  }
}
