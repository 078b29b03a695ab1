import { compareFunctions, type RunQuery } from '@tollbook/audit/installedFunctions'

/**
 * Lists the functions of the database that differ from this release. Undefined for a database of another release, whose
 * functions cannot be compared.
 */
export async function findDifferingFunctions(run: RunQuery): Promise<readonly string[] | undefined> {
  const comparison = await compareFunctions(run)
  return comparison?.differences.map(({ name, problem }) => `${name} ${problem}`)
}
