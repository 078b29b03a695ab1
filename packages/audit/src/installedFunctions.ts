import { createHash } from 'node:crypto'
import { releasedFunctions } from './releasedFunctions.ts'

/*
 * Compares the functions of the database with this release. A superuser could replace a function, such as the append,
 * and the new rows would still agree with their events. This program hashes the definitions itself, because the
 * database is not trusted.
 */

const schemas = ['ledger', 'work', 'paywall', 'news', 'reports', 'signer', 'migration']

export const functionsQuery = `
select format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as name,
  concat_ws(E'\\n', pg_get_function_result(p.oid), l.lanname, p.prokind, p.prosecdef, p.provolatile, p.proisstrict, p.proparallel,
    coalesce(array_to_string(p.proconfig, ','), '-'), p.probin is null and p.prosqlbody is null, p.prosrc) as text
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
join pg_catalog.pg_language l on l.oid = p.prolang
where n.nspname = any(array['${schemas.join("','")}'])
order by 1`

export const codeQuery = `select name, encode(digest, 'hex') as text from ledger.code order by name`

export type RunQuery = (query: string) => Promise<readonly InstalledText[]>

/** `text` is the definition of an installed function, or the digest of an applied SQL file. */
export interface InstalledText {
  readonly name: string
  readonly text: string
}

export interface FunctionsCompared {
  readonly compared: number
  readonly differences: readonly FunctionDifference[]
  /** Functions and kinds files that this release does not have, on a database that has files of other releases. */
  readonly unknown: readonly string[]
}

export interface FunctionDifference {
  readonly name: string
  readonly problem: 'is not the one of this release' | 'is missing' | 'is not of this release'
}

/** Undefined if another release migrated the database, so that the functions cannot be compared. */
export async function compareFunctions(run: RunQuery): Promise<FunctionsCompared | undefined> {
  const released = new Map(releasedFunctions.map(({ name, digest }) => [name, digest]))
  const files = (await run(codeQuery)).map(({ name, text }) => [fileMark + name, text] as const)
  const applied = new Map(files)
  const ofFiles = [...released].filter(([name]) => name.startsWith(fileMark))
  if (!ofFiles.every(([name, digest]) => applied.get(name) === digest)) return undefined
  for (const [name] of ofFiles) {
    released.delete(name)
    applied.delete(name)
  }
  // The other files are of an earlier release, whose functions were dropped, or of a newer one, which may have added
  // functions and kinds. List such functions and kinds as unknown, not as differences.
  const unknown = [...applied.keys()].filter((name) => name.startsWith(`${fileMark}kinds/`))
  const compared = released.size
  const differences: FunctionDifference[] = []
  for (const { name, text } of await run(functionsQuery)) {
    const right = released.get(name)
    released.delete(name)
    if (right === undefined && applied.size > 0) unknown.push(name)
    else if (right === undefined) differences.push({ name, problem: 'is not of this release' })
    else if (right !== digestOf(text)) differences.push({ name, problem: 'is not the one of this release' })
  }
  for (const name of released.keys()) differences.push({ name, problem: 'is missing' })
  return { compared, differences, unknown }
}

/** Prefix of lines that describe a SQL file that `tollbook migrate` applied. */
const fileMark = 'file '

/** Returns the installed functions and files as lines in the format of releasedFunctions.ts. */
export async function readInstalled(run: RunQuery): Promise<readonly string[]> {
  const files = (await run(codeQuery)).map(({ name, text }) => `${text} ${fileMark}${name}`)
  const functions = await run(functionsQuery)
  return [...files, ...functions.map(({ name, text }) => `${digestOf(text)} ${name}`)]
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
