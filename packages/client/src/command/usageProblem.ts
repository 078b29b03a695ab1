import { docsOf } from '../errorCode.ts'

/** The message must state the correct form of the option. */
export class UsageProblem extends Error {
  override readonly name = 'UsageProblem'
  readonly code = 'INVALID_OPTION'
  readonly docs = docsOf('INVALID_OPTION')

  constructor(option: string, message: string, options?: ErrorOptions) {
    super(`${option}: ${message}`, options)
  }
}
