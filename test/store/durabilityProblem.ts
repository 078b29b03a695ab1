import { silentLog } from '../../src/machine/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { findDurabilityProblem } from '../../src/store/durability.ts'

type Options = Parameters<typeof findDurabilityProblem>[1]

/** Returns the problem that a connection to this database finds. */
export async function problemAt(databaseUrl: string, options?: Options): Promise<string | undefined> {
  const database = openDatabase({ databaseUrl, applicationName: 'durability', connectionsMax: 1, log: silentLog })
  try {
    return await findDurabilityProblem(database, options)
  } finally {
    await database.destroy()
  }
}
