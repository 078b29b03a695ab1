import { docsOf } from '../errorCode.ts'

/** The command was not called correctly. The message names the option and what would be right. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  readonly code = 'INVALID_OPTION'
  readonly docs = docsOf('INVALID_OPTION')

  constructor(option: string, message: string) {
    super(`${option}: ${message}`)
  }
}
