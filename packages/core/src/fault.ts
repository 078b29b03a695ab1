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

const causesMax = 5
