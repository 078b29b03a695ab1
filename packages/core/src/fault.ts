export interface FaultOptions {
  readonly cause?: unknown
  /** True if the same call may succeed later without any change. */
  readonly retryable: boolean
}

/**
 * A failure outside the program, such as in a node, a database or a provider. It is thrown, not returned. It must not
 * become a 402, because the outcome of the call may be unknown, and a caller who pays again could pay twice (I8).
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

/** Returns at most five values, because a chain of causes may have a cycle. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let each = error; chain.length < causesMax && each !== undefined && each !== null;) {
    chain.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return chain
}

/** Returns one line for a person. Omits a cause that adds no information. */
export function errorText(error: Error): string {
  const parts = [error.message]
  for (const cause of chainOf(error.cause).slice(0, causesMax - 1)) {
    const text = cause instanceof Error ? causeText(cause) : ''
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text)
  }
  return parts.join(': ')
}

/** Node's error for several failed addresses has no message, so its text is the messages of all attempts. */
function causeText(cause: Error): string {
  if (cause.message !== '' || !(cause instanceof AggregateError)) return cause.message
  return cause.errors.map((error) => (error instanceof Error ? error.message : String(error))).join(', ')
}

export function describeError(error: unknown): string {
  return chainOf(error)
    .map((each) => (each instanceof Error ? `${each.name}: ${each.message}` : valueText(each)))
    .join(' <- ')
}

/** A log must not lose an error because JSON cannot write a bigint or a cycle. */
function valueText(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return String(thrown)
  }
}

/** Returns the first code of Postgres or of the system, such as `28P01` or `ECONNREFUSED`, of the error or its causes. */
export function errorCode(error: unknown): string | undefined {
  for (const each of chainOf(error))
    if (each instanceof Error && 'code' in each && typeof each.code === 'string') return each.code
  return undefined
}

/**
 * Callers may read this text, such as ` (28P01)`, because it omits the driver's message, which may contain addresses
 * and logins.
 */
export function codeText(error: unknown): string {
  const code = errorCode(error)
  return code !== undefined && /^[A-Z0-9_]{1,32}$/.test(code) ? ` (${code})` : ''
}
