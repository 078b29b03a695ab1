import { assert, assertPresent } from '@tollbook/core/assert'
import { sqlState } from './database.ts'

/** A numbered migration, by its name: `0011_stored_answers`. */
export interface NumberedMigration {
  readonly name: string
}

/** Names of the migrations that the database has and this program does not. */
export function namesAhead(program: readonly NumberedMigration[], applied: Iterable<string>): readonly string[] {
  return [...applied].filter((name) => !program.some((file) => file.name === name))
}

/** Migrations of a newer program in this database. */
export interface Ahead {
  readonly ahead: readonly string[]
  /** Number of the last migration of the oldest program that the database takes; undefined in an old database. */
  readonly oldestProgram: number | undefined
}

/** Whether a database that is ahead of a program still takes it. */
export function takesProgram(program: readonly NumberedMigration[], { ahead, oldestProgram }: Ahead): boolean {
  assert(
    ahead.every((name) => !program.some((file) => file.name === name)),
    'a program is not ahead of itself',
  )
  const number = numberOf(assertPresent(program.at(-1), 'a program has migrations').name)
  // A migration that is older than the program's last one belongs to another history.
  return oldestProgram !== undefined && number >= oldestProgram && ahead.every((name) => numberOf(name) > number)
}

function numberOf(name: string): number {
  return Number(name.slice(0, 4))
}

const undefinedTable = '42P01'

type RunNumberQuery = (text: string) => Promise<{ readonly rows: readonly { readonly number?: number }[] }>

/** Undefined in a database from before the table of compatibility. */
export async function readOldestProgram(runQuery: RunNumberQuery): Promise<number | undefined> {
  try {
    const { rows } = await runQuery('select oldest_program as number from migration.compatibility')
    return rows[0]?.number
  } catch (error) {
    if (sqlState(error) === undefinedTable) return undefined
    throw error
  }
}
