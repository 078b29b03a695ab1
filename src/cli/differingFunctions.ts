import { compareFunctions, type RunQuery } from '@tollbook/audit/installedFunctions'

/** Returns the names of database functions that differ from this release. Undefined for a database of another release. */
export async function findDifferingFunctions(run: RunQuery): Promise<readonly string[] | undefined> {
  const comparison = await compareFunctions(run)
  if (!comparison.isOfRelease) return undefined
  return comparison.differences.map(({ name, problem }) => `${name} ${problem}`)
}
