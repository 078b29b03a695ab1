import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'
import { compareFunctions, type InstalledText } from './installedFunctions.ts'

/** Returns the number of compared functions. Undefined for a database of another release. */
export async function matchFunctions(findings: Findings, source: DatabaseSource): Promise<number | undefined> {
  const comparison = await compareFunctions((query) => source.rows<InstalledText>(query))
  if (!comparison.isOfRelease) return undefined
  for (const { name, problem } of comparison.differences) {
    const message = `the function ${problem}: what it has written since then may agree with its events and be wrong`
    findings.add('function_differs', { position: undefined, subject: name, message })
  }
  return comparison.compared
}
