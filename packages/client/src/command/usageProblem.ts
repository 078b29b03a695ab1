import { docsOf } from '../errorCode.ts'

/** Invalid use of the command. The message contains the option and the correct form. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  readonly code = 'INVALID_OPTION'
  readonly docs = docsOf('INVALID_OPTION')

  constructor(option: string, message: string, options?: ErrorOptions) {
    super(`${option}: ${message}`, options)
  }
}
