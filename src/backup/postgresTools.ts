import { access, constants, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { runTool } from './runTool.ts'

/** Programs of one release of Postgres, in one folder. */
export interface PostgresTools {
  readonly folder: string
  /** 17 of 17.4. */
  readonly majorVersion: number
}

export interface ToolSearch {
  /** BACKUP_TOOLS_DIR; undefined: the usual folders. */
  readonly toolsFolder: string | undefined
  readonly programs: readonly string[]
  /** Undefined: the newest. */
  readonly majorVersion?: number
}

// Debian, the distribution's packages of PostgreSQL.org, Homebrew. A folder of the PATH may hold wrappers, so it comes last.
const versionedFolders = [
  { folder: '/usr/lib/postgresql', bin: (name: string) => `${name}/bin` },
  { folder: '/usr', bin: (name: string) => (/^pgsql-\d+$/.test(name) ? `${name}/bin` : undefined) },
  { folder: '/opt/homebrew/opt', bin: (name: string) => (/^postgresql@\d+$/.test(name) ? `${name}/bin` : undefined) },
]
const plainFolders = ['/usr/local/pgsql/bin', '/usr/local/bin', '/usr/bin']

/** Undefined when no folder has all of the programs, in that version. */
export async function findTools(search: ToolSearch): Promise<PostgresTools | undefined> {
  const found: PostgresTools[] = []
  for (const folder of await foldersToSearch(search.toolsFolder)) {
    const tools = await toolsIn(folder, search.programs)
    if (tools !== undefined) found.push(tools)
  }
  const fitting = found.filter(
    ({ majorVersion }) => search.majorVersion === undefined || majorVersion === search.majorVersion,
  )
  return fitting.toSorted((a, b) => b.majorVersion - a.majorVersion)[0]
}

/** Throws a `Fault` that names the Debian packages when the programs are not on this machine. */
export async function requireTools(search: ToolSearch): Promise<PostgresTools> {
  const tools = await findTools(search)
  if (tools !== undefined) return tools
  const { toolsFolder, programs, majorVersion } = search
  const version = majorVersion === undefined ? '' : ` of PostgreSQL ${majorVersion}`
  const place = toolsFolder === undefined ? 'on this machine' : `in ${toolsFolder} (BACKUP_TOOLS_DIR)`
  const packages = programs.includes('postgres')
    ? `postgresql-${majorVersion ?? 17}`
    : `postgresql-client-${majorVersion ?? 17}`
  throw new Fault(
    `${programs.join(' and ')}${version} not found ${place}: install them (Debian: ${packages}), or set BACKUP_TOOLS_DIR to their folder`,
    { retryable: false },
  )
}

async function foldersToSearch(toolsFolder: string | undefined): Promise<readonly string[]> {
  if (toolsFolder !== undefined) return [toolsFolder]
  const versioned = await Promise.all(
    versionedFolders.map(async ({ folder, bin }) => {
      const names = await readdir(folder).catch(() => [])
      return names.flatMap((name) => {
        const path = bin(name)
        return path === undefined ? [] : [join(folder, path)]
      })
    }),
  )
  return [...versioned.flat(), ...plainFolders]
}

async function toolsIn(folder: string, programs: readonly string[]): Promise<PostgresTools | undefined> {
  const [first = ''] = programs
  try {
    for (const program of programs) await access(join(folder, program), constants.X_OK)
  } catch {
    return undefined
  }
  const { output, exitCode } = await runTool({ program: join(folder, first), arguments: ['--version'] })
  const version = /\(PostgreSQL\) (\d+)/.exec(output)?.[1]
  return exitCode !== 0 || version === undefined ? undefined : { folder, majorVersion: Number(version) }
}

/** The path of one of the programs. */
export function toolPath({ folder }: PostgresTools, program: string): string {
  return join(folder, program)
}

/** Rephrases the commonest failures of a program with what to do about them; otherwise its own words. */
export function explainToolFailure(program: string, output: string): string {
  const name = dirname(program) === '.' ? program : program.slice(dirname(program).length + 1)
  const words = `${name} failed: ${output.trim()}`
  const hint = hints.find(({ pattern }) => pattern.test(output))
  return hint === undefined ? words : `${words}\n${hint.advice}`
}

const hints = [
  {
    pattern: /incompatible server version/,
    advice: 'Install the programs of the version of the server, or set BACKUP_TOOLS_DIR to their folder.',
  },
  { pattern: /No space left on device/, advice: 'Free space, or set BACKUP_DIR to a larger disk.' },
  {
    pattern: /no pg_hba\.conf entry for replication/,
    advice: 'Add a line `host replication <login> <address> scram-sha-256` to pg_hba.conf and reload the server.',
  },
  {
    pattern: /must be superuser or replication role|permission denied to start WAL sender/,
    advice: 'Give the login of BACKUP_DATABASE_URL the right: alter role <login> replication.',
  },
  { pattern: /no password supplied/, advice: 'BACKUP_DATABASE_URL has no password.' },
  { pattern: /max_wal_senders/, advice: 'Raise max_wal_senders of the server: a backup uses two.' },
]
