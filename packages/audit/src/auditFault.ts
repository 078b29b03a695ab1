/**
 * Thrown if the audit cannot be carried out, for example because a file, a database or a node cannot be read. It is not
 * a verdict.
 */
export class AuditFault extends Error {
  override readonly name = 'AuditFault'
  /** True if the same call may succeed later without a change by the user. */
  readonly retryable: boolean

  constructor(message: string, options: { readonly cause?: unknown; readonly retryable: boolean }) {
    super(message, { cause: options.cause })
    this.retryable = options.retryable
  }
}

export function reasonsOf(error: Error): string {
  const { cause } = error
  if (!(cause instanceof Error) || error.message.includes(cause.message)) return error.message
  return `${error.message}: ${reasonsOf(cause)}`
}
