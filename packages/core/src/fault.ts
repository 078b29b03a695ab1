export interface FaultOptions {
  readonly cause?: unknown
  /** True if the same call may succeed later without any change. */
  readonly retryable: boolean
}

/**
 * The outside failed: a node, a database, a provider. Thrown, never returned.
 * A fault says that we do not know, so it never becomes a 402 (invariant I8).
 */
export class Fault extends Error {
  override readonly name: string = 'Fault'
  readonly retryable: boolean

  constructor(message: string, options: FaultOptions) {
    super(message, { cause: options.cause })
    this.retryable = options.retryable
  }
}

/** The text of an error for a person, in one line: what happened, and each cause that says more. */
export function errorText(error: Error): string {
  const parts = [error.message]
  let { cause } = error
  for (let depth = 1; depth < causesMax && cause instanceof Error; depth++) {
    const text = causeText(cause)
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text)
    cause = cause.cause
  }
  return parts.join(': ')
}

/** Node reports the failed attempts at each address of a name in an error without a message. */
function causeText(cause: Error): string {
  if (cause.message !== '' || !(cause instanceof AggregateError)) return cause.message
  return cause.errors.map((error) => (error instanceof Error ? error.message : String(error))).join(', ')
}

/** The text of anything that was thrown, for a log line. Walks the causes, five at most. */
export function describeError(error: unknown): string {
  const parts: string[] = []
  let current = error
  for (let depth = 0; depth < causesMax && current !== undefined && current !== null; depth++) {
    parts.push(current instanceof Error ? `${current.name}: ${current.message}` : JSON.stringify(current))
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join(' <- ')
}

/** `28P01`, `ECONNREFUSED`: the code of Postgres or of the system, of the error or of one of its causes. */
export function errorCode(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < causesMax && current instanceof Error; depth++) {
    if ('code' in current && typeof current.code === 'string') return current.code
    current = current.cause
  }
  return undefined
}

/** ` (28P01)`, for a text that callers may read: messages of drivers name addresses and logins. Empty without a code. */
export function codeText(error: unknown): string {
  const code = errorCode(error)
  return code !== undefined && /^[A-Z0-9_]{1,32}$/.test(code) ? ` (${code})` : ''
}

const causesMax = 5
