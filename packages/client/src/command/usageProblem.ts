import { docsOf } from '../errorCode.ts'

/** A wrong call of the command. The message names the option and the right form. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  readonly code = 'INVALID_OPTION'
  readonly docs = docsOf('INVALID_OPTION')

  constructor(option: string, message: string, options?: ErrorOptions) {
    super(`${option}: ${message}`, options)
  }
}
