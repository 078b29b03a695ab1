import { compareFunctions, type RunQuery } from '@tollbook/audit/installedFunctions'

/**
 * Functions of the database that are not those of this release, with what is wrong; undefined for a database of another
 * release.
 */
export async function findDifferingFunctions(run: RunQuery): Promise<readonly string[] | undefined> {
  const comparison = await compareFunctions(run)
  if (!comparison.isOfRelease) return undefined
  return comparison.differences.map(({ name, problem }) => `${name} ${problem}`)
}
