/** A broken assumption of our own code. The caller did not cause it, and nothing catches it to continue. */
export class Bug extends Error {
  override readonly name = 'Bug'
}

/** Rejects states that only a mistake in our code can cause. Throws `Bug`; never use it for input or a failure outside. */
export function assert(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new Bug(`expected that ${expectation}`)
}

/** Returns a value that the surrounding code has already proven to be present. */
export function assertPresent<T>(value: T | null | undefined, expectation: string): T {
  if (value === null || value === undefined) throw new Bug(`expected that ${expectation}`)
  return value
}

/** Closes a switch: a new member of the union does not compile without its own case. */
export function assertNever(value: never): never {
  throw new Bug(`expected that every case is handled, got ${JSON.stringify(value)}`)
}
