import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describeError, errorCode, Fault } from '@tollbook/core/fault'

/** A repository of pgBackRest, whose own configuration has its place and keys. */
export interface Repository {
  readonly stanza: string
  readonly interrupted: AbortSignal
}

/** Compares every backup and the archived write-ahead log with their checksums. Throws a `Fault` when one differs. */
export async function verifyRepository(repository: Repository): Promise<void> {
  const output = await pgBackRest(repository, ['verify', '--output=text'])
  // Debian 12 has 2.45, whose exit code is 0 whatever it finds.
  if (!output.includes('status: error')) return
  const found = output.slice(-outputCharactersMax).trim()
  throw new Fault(`the repository of pgBackRest is damaged, or has no such stanza: ${found}`, { retryable: false })
}

export interface RestoreOrder {
  /** Created by pgBackRest; the server of the original directory is not touched. */
  readonly dataDirectory: string
  readonly tablespaces: string
  /** The replay ends here. Undefined: at the end of the archive. */
  readonly targetMs: number | undefined
}

/** Restores the newest backup, or the newest one from before the target time, and prepares the replay of the archive. */
export async function restoreBackup(repository: Repository, order: RestoreOrder): Promise<void> {
  await pgBackRest(repository, [
    'restore',
    `--pg1-path=${order.dataDirectory}`,
    `--tablespace-map-all=${order.tablespaces}`,
    // Nothing of this cluster may get into the archive.
    '--archive-mode=off',
    ...targetOf(order.targetMs),
  ])
}

function targetOf(targetMs: number | undefined): readonly string[] {
  if (targetMs === undefined) return []
  // In numbers: Postgres reads this setting before it knows the names of time zones, `Z` included.
  const time = new Date(targetMs).toISOString().replace('T', ' ').replace('Z', '+00')
  return ['--type=time', `--target=${time}`, '--target-action=promote']
}

const outputCharactersMax = 4_000
const outputBytesMax = 16 * 1024 ** 2

async function pgBackRest({ stanza, interrupted }: Repository, words: readonly string[]): Promise<string> {
  const [command = ''] = words
  const options = ['--log-level-file=off', `--stanza=${stanza}`]
  try {
    const call = promisify(execFile)('pgbackrest', [...words, ...options], {
      signal: interrupted,
      maxBuffer: outputBytesMax,
    })
    const { stdout, stderr } = await call
    return stdout + stderr
  } catch (cause) {
    const what =
      errorCode(cause) === 'ENOENT'
        ? 'pgbackrest is not installed (Debian: pgbackrest)'
        : `pgbackrest ${command} failed: ${describeError(cause).slice(-outputCharactersMax)}`
    throw new Fault(what, { cause, retryable: true })
  }
}
