export interface FaultOptions {
  readonly cause?: unknown
  /** True if the same call may succeed later without any change. */
  readonly retryable: boolean
}

/**
 * A failure outside the program, such as a node, a database or a provider. Thrown, never returned. The outcome is then
 * unknown, so a fault never becomes a 402 (invariant I8).
 */
export class Fault extends Error {
  override readonly name: string = 'Fault'
  readonly retryable: boolean

  constructor(message: string, options: FaultOptions) {
    super(message, { cause: options.cause })
    this.retryable = options.retryable
  }
}

/** Text of an error for a person, in one line, with each cause that adds information. */
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

/** For the failed attempts at each address of a name, Node makes an error without a message. */
function causeText(cause: Error): string {
  if (cause.message !== '' || !(cause instanceof AggregateError)) return cause.message
  return cause.errors.map((error) => (error instanceof Error ? error.message : String(error))).join(', ')
}

/** Text of any thrown value, for a log line, with at most five causes. */
export function describeError(error: unknown): string {
  const parts: string[] = []
  let current = error
  for (let depth = 0; depth < causesMax && current !== undefined && current !== null; depth++) {
    parts.push(current instanceof Error ? `${current.name}: ${current.message}` : JSON.stringify(current))
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join(' <- ')
}

/** Code of the error or of one of its causes, from Postgres or the system, such as `28P01` or `ECONNREFUSED`. */
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
