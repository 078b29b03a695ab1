import { Fault, type FaultOptions } from '@tollbook/core/fault'

/** Codes of the errors that calls of this package throw. Each has a section in docs/sdk.md. */
export const errorCodes = [
  'FOLDER_UNUSABLE',
  'INSUFFICIENT_FUNDS',
  'INVALID_OPTION',
  'KEYPAIR_UNREADABLE',
  'NODE_REFUSED',
  'NODE_UNAVAILABLE',
  'PAYMENT_NOT_SENT',
  'PAYMENT_REFUSED',
  'PAYMENT_UNRESOLVED',
  'PAYMENT_UNSPENT',
  'QUOTE_REFUSED',
  'SERVICE_UNAVAILABLE',
  'SPENDING_LIMIT_EXCEEDED',
] as const
export type ErrorCode = (typeof errorCodes)[number]

export function docsOf(code: ErrorCode): string {
  return `docs/sdk.md#${code.toLowerCase()}`
}

/** Failure of a node, a service, a folder or a file. */
export class PayerFault extends Fault {
  readonly code: ErrorCode
  readonly docs: string

  constructor(code: ErrorCode, message: string, options: FaultOptions) {
    super(message, options)
    this.code = code
    this.docs = docsOf(code)
  }
}

export class InvalidOption extends TypeError {
  readonly code = 'INVALID_OPTION'
  readonly docs = docsOf('INVALID_OPTION')
}
