/** A mistake in this program. The caller did not cause it. */
export class Bug extends Error {
  override readonly name = 'Bug'
}

/**
 * Throws `Bug` for a state that only a mistake in this program can cause. Wrong input is refused instead, and a failure
 * outside the program is a `Fault`.
 */
export function assert(condition: boolean, expectation: string): asserts condition {
  if (!condition) throw new Bug(`expected that ${expectation}`)
}

/** The surrounding code must have proven that the value is present. Throws `Bug` if it is absent. */
export function assertPresent<T>(value: T | null | undefined, expectation: string): T {
  if (value === null || value === undefined) throw new Bug(`expected that ${expectation}`)
  return value
}

/** Use it in the default case of a switch: a union member without its own case then fails to compile. */
export function assertNever(value: never): never {
  throw new Bug(`expected that every case is handled, got ${JSON.stringify(value)}`)
}
