import { namesAhead, readOldestProgram, takesProgram, whyUnreadable } from './compatibility.ts'
import { readSchema, type Schema, type SchemaFile, type SchemaSources } from './migrate.ts'
import { sqlState } from './database.ts'

export type RunQuery = (text: string) => Promise<{ readonly rows: readonly Row[] }>

type Row = Applied & { readonly number?: number }

export type SchemaVersion =
  /** `difference` describes changes by a newer release in this database. This program may still use the database. */
  | { readonly fits: true; readonly difference?: string }
  /**
   * `needsMigration`: `tollbook migrate` solves the problem. False: another release or login is needed, as `advice`
   * explains.
   */
  | { readonly fits: false; readonly advice: string; readonly needsMigration: boolean }

const undefinedTable = '42P01'
const undefinedSchema = '3F000'
const insufficientPrivilege = '42501'

/**
 * Compares the schema of the database with this program. With a different schema, a service could corrupt data or fail
 * late.
 */
export async function checkSchemaVersion(runQuery: RunQuery, sources: SchemaSources): Promise<SchemaVersion> {
  const schema = await readSchema(sources)
  const applied = await readApplied(runQuery)
  if ('fits' in applied) return applied
  const ahead = namesAhead(
    schema.numbered,
    applied.numbered.map(({ name }) => name),
  )
  const unreadable = whyUnreadable(schema.numbered, ahead)
  if (unreadable !== undefined) return needingOther(unreadable)
  const missing = schema.numbered.filter(({ name }) => !applied.numbered.some((file) => file.name === name))
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    return needingMigration(`the database is older than this program (missing ${names})`)
  }
  const edited = differing(schema.numbered, applied.numbered)
  const code = differing(schema.code, applied.code)
  if (ahead.length > 0 && edited.length === 0)
    return judgeNewer(schema, { ahead, code, oldestProgram: await readOldestProgram(runQuery) })
  const differs = `SQL in the database differs from this program (${[...edited, ...code].join(', ')})`
  // Require another release for an edited migration, because `tollbook migrate` never applies a migration twice.
  if (edited.length > 0) return needingOther(`${differs}: start the release that migrated it`)
  return code.length > 0 ? needingMigration(differs) : { fits: true }
}

function needingMigration(problem: string): SchemaVersion {
  return { fits: false, advice: `${problem}: run \`tollbook migrate\``, needsMigration: true }
}

function needingOther(advice: string): SchemaVersion {
  return { fits: false, advice, needsMigration: false }
}

interface Newer {
  /** Migrations of a newer program that the database has. */
  readonly ahead: readonly string[]
  readonly code: readonly string[]
  readonly oldestProgram: number | undefined
}

/**
 * Accepts a newer schema if the database permits this program. A newer release may only add to the schema, must keep
 * the signatures of its functions, and records the oldest accepted program.
 */
function judgeNewer({ numbered }: Schema, { ahead, code, oldestProgram }: Newer): SchemaVersion {
  const names = ahead.join(', ')
  if (takesProgram(numbered, oldestProgram)) {
    const more = code.length === 0 ? '' : `; SQL that differs: ${code.join(', ')}`
    return { fits: true, difference: `the database is newer than this program (${names})${more}` }
  }
  const from = oldestProgram === undefined ? '' : ` and takes programs from migration ${oldestProgram} on`
  return needingOther(
    `the database is newer than this program (${names})${from}: start the release that made these migrations`,
  )
}

export type Applied = Pick<SchemaFile, 'name' | 'digest'>

function differing(files: readonly SchemaFile[], applied: readonly Applied[]): readonly string[] {
  const digests = new Map(applied.map(({ name, digest }) => [name, digest]))
  return files.flatMap(({ name, digest }) => (digests.get(name) === digest ? [] : [name]))
}

const groupAdvice = 'the login may not read the ledger; make it a member of its group, tollbook_service for a service'

async function readApplied(runQuery: RunQuery) {
  try {
    return {
      numbered: await readRegister(runQuery, 'migration.applied'),
      code: await readRegister(runQuery, 'ledger.code'),
    }
  } catch (error) {
    const state = sqlState(error)
    if (state === undefinedTable || state === undefinedSchema) return needingMigration('the database has no ledger yet')
    if (state !== insufficientPrivilege || !(error instanceof Error)) throw error
    // Advise another login, because the schema exists but this login cannot read it. A migration would not help.
    return needingOther(`${groupAdvice}: ${error.message}`)
  }
}

async function readRegister(runQuery: RunQuery, register: string): Promise<readonly Applied[]> {
  const { rows } = await runQuery(`select name, encode(digest, 'hex') as digest from ${register} order by name`)
  return rows
}
