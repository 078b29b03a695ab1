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

const causesMax = 5

/** The error and its causes, at most five. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let each = error; chain.length < causesMax && each !== undefined && each !== null;) {
    chain.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return chain
}

/** Text of an error for a person, in one line, with each cause that adds information. */
export function errorText(error: Error): string {
  const parts = [error.message]
  for (const cause of chainOf(error.cause).slice(0, causesMax - 1)) {
    const text = cause instanceof Error ? causeText(cause) : ''
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text)
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
  return chainOf(error)
    .map((each) => (each instanceof Error ? `${each.name}: ${each.message}` : JSON.stringify(each)))
    .join(' <- ')
}

/** Code of the error or of one of its causes, from Postgres or the system, such as `28P01` or `ECONNREFUSED`. */
export function errorCode(error: unknown): string | undefined {
  for (const each of chainOf(error))
    if (each instanceof Error && 'code' in each && typeof each.code === 'string') return each.code
  return undefined
}

/** ` (28P01)`, for a text that callers may read: messages of drivers name addresses and logins. Empty without a code. */
export function codeText(error: unknown): string {
  const code = errorCode(error)
  return code !== undefined && /^[A-Z0-9_]{1,32}$/.test(code) ? ` (${code})` : ''
}
