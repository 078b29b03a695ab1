/*
 * Tests of random values and of long tables that cost a second and more: a fifth of them in `npm test`, all of them in
 * CI (docs/testing.md).
 */

const hasAll = process.env['TEST_ROUNDS'] === 'all'

export function rounds(all: number): number {
  return hasAll ? all : Math.ceil(all / 5)
}

/** Rows of a table, evenly spread. */
export function sampleOf<T>(all: readonly T[]): readonly T[] {
  return hasAll ? all : all.filter((_, index) => index % 5 === 0)
}
