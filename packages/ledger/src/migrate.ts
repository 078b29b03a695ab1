import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { namesAhead, readOldestProgram, takesProgram, whyUnreadable } from './compatibility.ts'

/** Folders of SQL files. `code` always includes the ledger's own functions. */
export interface SchemaSources {
  /**
   * Folder of files `<number>_<name>.sql` with tables, constraints and triggers. Each file is applied once, in order,
   * and never edited afterwards.
   */
  readonly numbered: string
  /**
   * Folders of functions with their grants, and of declarations of kinds and steps. The files of a folder are applied
   * in the order of their names. A changed file is applied again at the next migration.
   */
  readonly code: readonly string[]
}

export interface MigrateOptions {
  /**
   * URL for a role that owns the database and may create roles. It must not be the service's role, because an owner can
   * switch off the triggers of the ledger (docs/operations.md).
   */
  readonly databaseUrl: string
  readonly sources: SchemaSources
  /** Finds functions that differ from this release. If there are differences, all code files are applied again. */
  readonly findDifferingFunctions?: FindDifferingFunctions
}

export type FindDifferingFunctions = (
  run: (text: string) => Promise<readonly { readonly name: string; readonly text: string }[]>,
) => Promise<readonly string[] | undefined>

/** An SQL file with the SHA-256 digest of its text in hex. */
export interface SchemaFile {
  /** Name of the file, for example `0002_ledger` or `functions/seal`. */
  readonly name: string
  readonly digest: string
  readonly text: string
}

export interface Schema {
  readonly numbered: readonly SchemaFile[]
  readonly code: readonly SchemaFile[]
}

const kernelCode = fileURLToPath(new URL('../sql', import.meta.url))
const numberedFile = /^\d{4}_[a-z0-9_]+\.sql$/
const codeFile = /^[a-z0-9_]+\.sql$/
// Time limit for locks. If a table is locked for longer, the migration fails, because it would block all later queries
// on this table.
const lockTimeoutMs = 10_000

/**
 * Reads the files of each folder in the order of their names, because a migration may depend on earlier ones. Asserts
 * that each code file has a different name in all folders.
 */
export async function readSchema({ numbered, code }: SchemaSources): Promise<Schema> {
  const tables = (await readFolder(numbered, numberedFile)).map((file) => ({
    ...file,
    name: file.name.replace(/^.*\//, ''),
  }))
  const ofCode = await Promise.all([kernelCode, ...code].map((folder) => readFolder(folder, codeFile)))
  const schema = { numbered: tables, code: ofCode.flat() }
  assert(schema.numbered.length > 0, `${numbered} holds migrations`)
  assert(new Set(schema.code.map(({ name }) => name)).size === schema.code.length, 'each file of code has its own name')
  return schema
}

async function readFolder(folder: string, accepted: RegExp): Promise<readonly SchemaFile[]> {
  const files = (await readdir(folder)).filter((file) => accepted.test(file)).sort()
  const label = folder === kernelCode ? 'ledger' : (folder.split('/').findLast((part) => part !== '') ?? '')
  return Promise.all(
    files.map(async (file): Promise<SchemaFile> => {
      const text = await readFile(`${folder}/${file}`, 'utf8')
      return { name: `${label}/${file.slice(0, -'.sql'.length)}`, digest: digestOf(text), text }
    }),
  )
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** Migrates in one transaction or not at all. Returns the names of the files that it applied. */
export async function migrate({
  databaseUrl,
  sources,
  findDifferingFunctions,
}: MigrateOptions): Promise<readonly string[]> {
  const schema = await readSchema(sources)
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'tollbook migrate' })
  await client.connect().catch((error: unknown) => {
    throw new Fault('the database of MIGRATION_DATABASE_URL cannot be reached', { cause: error, retryable: true })
  })
  try {
    await client.query('begin')
    // Take a lock, so that two programs that start together migrate one after the other.
    await client.query("select pg_advisory_xact_lock(hashtext('tollbook migrate'))")
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    // Repeat this at each migration. It holds only for functions that this role creates, and an earlier migration may
    // have run as another role.
    await client.query('alter default privileges revoke execute on functions from public')
    const isNewer = await isNewerButFits(client, schema)
    const applied = isNewer
      ? []
      : [...(await applyNumbered(client, schema.numbered)), ...(await applyCode(client, schema.code))]
    const differing = isNewer
      ? undefined
      : await findDifferingFunctions?.(async (text) => (await client.query(text)).rows)
    const isIntact = differing === undefined || differing.length === 0
    if (!isIntact) for (const file of schema.code) await apply(client, file, 'ledger.code')
    await client.query('commit')
    return isIntact ? applied : [...new Set([...applied, ...schema.code.map(({ name }) => name)])]
  } finally {
    await client.end()
  }
}

/**
 * True if a newer release has migrated this database and the database still accepts this program, for example during a
 * rolling update. Throws if the database does not accept this program.
 */
async function isNewerButFits(client: pg.Client, { numbered }: Schema): Promise<boolean> {
  await client.query(createProgress)
  const known = await digestsIn(client, 'migration.applied')
  const ahead = namesAhead(numbered, known.keys())
  if (ahead.length === 0) return false
  const unreadable = whyUnreadable(numbered, ahead)
  if (unreadable !== undefined) throw new Fault(unreadable, { retryable: false })
  const oldestProgram = await readOldestProgram((text) => client.query(text))
  if (takesProgram(numbered, oldestProgram)) return true
  throw new Fault(`the database is newer than this program: it has ${ahead.join(', ')}`, { retryable: false })
}

const createProgress = `
  create schema if not exists migration;
  create table if not exists migration.applied (
    name text not null,
    digest bytea not null,
    applied_at timestamptz not null,
    constraint applied_one_row_each primary key (name)
  )`

async function applyNumbered(client: pg.Client, files: readonly SchemaFile[]): Promise<readonly string[]> {
  const known = await digestsIn(client, 'migration.applied')
  checkLanded(files, known)
  const missing = files.filter(({ name }) => !known.has(name))
  for (const file of missing) await apply(client, file, 'migration.applied')
  return missing.map(({ name }) => name)
}

/**
 * Refuses a numbered file that was edited after it had been applied, because the file no longer describes this
 * database.
 */
function checkLanded(files: readonly SchemaFile[], known: ReadonlyMap<string, string>): void {
  for (const { name, digest } of files)
    if (known.has(name) && known.get(name) !== digest)
      throw new Fault(`migration ${name} differs from the one that was applied; add a new migration instead`, {
        retryable: false,
      })
}

async function applyCode(client: pg.Client, files: readonly SchemaFile[]): Promise<readonly string[]> {
  const known = await digestsIn(client, 'ledger.code')
  const changed = files.filter(({ name, digest }) => known.get(name) !== digest)
  for (const file of changed) await apply(client, file, 'ledger.code')
  return changed.map(({ name }) => name)
}

type Register = 'migration.applied' | 'ledger.code'

async function digestsIn(client: pg.Client, register: Register): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; digest: string }>(
    `select name, encode(digest, 'hex') as digest from ${register}`,
  )
  return new Map(rows.map(({ name, digest }) => [name, digest]))
}

async function apply(client: pg.Client, { name, digest, text }: SchemaFile, register: Register): Promise<void> {
  try {
    await client.query(text)
    await client.query(
      `insert into ${register} (name, digest, applied_at) values ($1, decode($2, 'hex'), clock_timestamp())
       on conflict (name) do update set digest = excluded.digest, applied_at = excluded.applied_at`,
      [name, digest],
    )
  } catch (error) {
    throw new Fault(`migration ${name} failed; nothing was changed`, { cause: error, retryable: false })
  }
}
