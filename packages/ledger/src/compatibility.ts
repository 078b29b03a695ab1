import { assertPresent } from '@tollbook/core/assert'
import { sqlState } from './database.ts'

/** A migration with its number, for example `0003_ledger`. */
export interface NumberedMigration {
  readonly name: string
}

export function namesAhead(program: readonly NumberedMigration[], applied: Iterable<string>): readonly string[] {
  return [...applied].filter((name) => !program.some((file) => file.name === name))
}

/**
 * Explains why no release can read the database. Newer releases only add migrations with higher numbers. An unknown
 * migration with a number of this program therefore comes from a commit before the first release. Returns undefined if
 * the database has no such migration.
 */
export function whyUnreadable(program: readonly NumberedMigration[], ahead: readonly string[]): string | undefined {
  const foreign = ahead.find((name) => numberOf(name) <= lastNumber(program))
  if (foreign === undefined) return undefined
  return `the database was made before the first release (it has the migration ${foreign}), and no release reads it: use an empty database, and in local mode another TOLLBOOK_HOME`
}

/**
 * True if the database accepts this program. `oldestProgram` is the number of the last migration of the oldest accepted
 * program.
 */
export function takesProgram(program: readonly NumberedMigration[], oldestProgram: number | undefined): boolean {
  return oldestProgram !== undefined && lastNumber(program) >= oldestProgram
}

function lastNumber(program: readonly NumberedMigration[]): number {
  return numberOf(assertPresent(program.at(-1), 'a program has migrations').name)
}

function numberOf(name: string): number {
  return Number(name.slice(0, 4))
}

const undefinedTable = '42P01'

type RunNumberQuery = (text: string) => Promise<{ readonly rows: readonly { readonly number?: number }[] }>

/** Returns the oldest program that the database accepts. Undefined if the database does not state it. */
export async function readOldestProgram(runQuery: RunNumberQuery): Promise<number | undefined> {
  try {
    const { rows } = await runQuery('select oldest_program as number from migration.compatibility')
    return rows[0]?.number
  } catch (error) {
    if (sqlState(error) === undefinedTable) return undefined
    throw error
  }
}
