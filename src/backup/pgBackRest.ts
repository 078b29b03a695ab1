import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describeError, errorCode, Fault } from '@tollbook/core/fault'

/** A repository of pgBackRest. Its location and keys are in the configuration of pgBackRest. */
export interface Repository {
  readonly stanza: string
  readonly interrupted: AbortSignal
}

/**
 * Compares the backups and the archived write-ahead log with their checksums. Throws a `Fault` if pgBackRest reports an
 * error.
 */
export async function verifyRepository(repository: Repository): Promise<void> {
  const output = await pgBackRest(repository, ['verify', '--output=text'])
  // Check the output, because version 2.45 in Debian 12 exits with 0 even if it finds errors.
  if (!output.includes('status: error')) return
  const found = output.slice(-outputCharactersMax).trim()
  throw new Fault(`the repository of pgBackRest is damaged, or has no such stanza: ${found}`, { retryable: false })
}

export interface RestoreOrder {
  /** Folder of the restored data, created by pgBackRest. The server with the original data is not affected. */
  readonly dataDirectory: string
  readonly tablespaces: string
  /** Time at which the replay ends. Undefined: it ends at the end of the archive. */
  readonly targetMs: number | undefined
}

/**
 * Restores a backup and prepares the replay of the archive. Uses the newest backup, or the newest one before the target
 * time.
 */
export async function restoreBackup(repository: Repository, order: RestoreOrder): Promise<void> {
  await pgBackRest(repository, [
    'restore',
    `--pg1-path=${order.dataDirectory}`,
    `--tablespace-map-all=${order.tablespaces}`,
    // Disable archiving, so that this cluster does not write to the archive.
    '--archive-mode=off',
    ...targetOf(order.targetMs),
  ])
}

function targetOf(targetMs: number | undefined): readonly string[] {
  if (targetMs === undefined) return []
  // Write the offset as a number, because Postgres reads this setting before it loads the names of time zones,
  // including `Z`.
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
