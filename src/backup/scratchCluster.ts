import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isRestored } from '../store/restoredCluster.ts'
import { type Repository, restoreBackup } from './pgBackRest.ts'

export interface ScratchOptions {
  readonly repository: Repository
  /** Folder of the programs of Postgres. Undefined: that of Debian, for the version of the backup. */
  readonly programs: string | undefined
  readonly scratchFolder: string
  readonly superuser: string
  /** The replay ends here. Undefined: at the end of the archive. */
  readonly targetMs: number | undefined
  /** Folder in which pg_receivewal writes what is not archived yet. */
  readonly receivedWal: string | undefined
  readonly clock: Clock
}

/** A cluster that no other user can reach: a socket in a folder that is closed to others, and no port. */
export interface ScratchCluster extends AsyncDisposable {
  urlOf(login: string, database: string): string
}

/** Restores a backup into a new folder, which is removed with the cluster. */
export async function startScratchCluster(options: ScratchOptions): Promise<ScratchCluster> {
  const { repository, superuser, targetMs, receivedWal } = options
  await using opened = new AsyncDisposableStack()
  const place = await mkdtemp(join(options.scratchFolder, 'tollbook-drill-'))
  opened.defer(() => rm(place, { recursive: true, force: true }))
  requireShortPath(place)
  const dataDirectory = join(place, 'data')
  await restoreBackup(repository, { dataDirectory, tablespaces: join(place, 'tablespaces'), targetMs })
  const version = (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).trim()
  const program = join(options.programs ?? `/usr/lib/postgresql/${version}/bin`, 'postgres')
  await writeFile(join(place, 'postgresql.conf'), '')
  // The folder of the socket is closed to other users.
  await writeFile(join(place, 'pg_hba.conf'), 'local all all trust\n')
  const archive = `pgbackrest --stanza=${repository.stanza} --pg1-path=${dataDirectory} --log-level-file=off archive-get %f "%p"`
  const restoreCommand = receivedWal === undefined ? archive : `${archive} || ${receivedCommand(receivedWal)}`
  const server = opened.use(startServer({ program, place, restoreCommand }))
  const urlOf = (login: string, database: string): string =>
    `postgres://${encodeURIComponent(login)}@/${encodeURIComponent(database)}?host=${encodeURIComponent(place)}`
  await awaitRestored(options, { url: urlOf(superuser, 'postgres'), server })
  const disposables = opened.move()
  return { urlOf, [Symbol.asyncDispose]: () => disposables.disposeAsync() }
}

/** The segment that was being received has another name, and ends where the log ends. */
function receivedCommand(folder: string): string {
  return `cp "${folder}/%f" "%p" || cp "${folder}/%f.partial" "%p"`
}

// The kernel's limit on the path of a socket, less its name.
const socketFolderMax = 107 - '/.s.PGSQL.5432'.length

function requireShortPath(place: string): void {
  if (Buffer.byteLength(place) <= socketFolderMax) return
  throw new Fault(`the path ${place} is too long for a socket: name a shorter one with --scratch`, { retryable: false })
}

interface ServerOptions {
  readonly program: string
  readonly place: string
  readonly restoreCommand: string
}

interface Server extends AsyncDisposable {
  /** The end of its log once it has ended; undefined while it runs. */
  failure(): string | undefined
}

/*
 * The shell sends Postgres a fast shutdown when our pipe closes, which the kernel does even if this process is killed.
 * When Postgres ends first, so does the shell.
 */
const watchdog =
  'exec 3<&0; "$@" </dev/null & pid=$!; (cat <&3 >/dev/null; kill -INT $pid) & guard=$!; wait $pid; code=$?; kill $guard; exit $code'

const logCharactersMax = 4_000

function startServer({ program, place, restoreCommand }: ServerOptions): Server {
  const settings = Object.entries({ ...settingsOf(place), restore_command: restoreCommand }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  )
  const child = spawn('sh', ['-c', watchdog, 'sh', program, '-D', join(place, 'data'), ...settings], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    // Ctrl-C reaches this command only, which then stops the server.
    detached: true,
  })
  let log = ''
  let hasEnded = false
  child.stderr.on('data', (chunk: Buffer) => void (log = `${log}${chunk.toString()}`.slice(-logCharactersMax)))
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close').then(
    () => void (hasEnded = true),
    (error: unknown) => {
      log += String(error)
      hasEnded = true
    },
  )
  return {
    failure: () => (hasEnded ? log : undefined),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}

/** Settings of the command line override postgresql.auto.conf, which holds what ALTER SYSTEM set on the original server. */
function settingsOf(place: string): Readonly<Record<string, string>> {
  return {
    config_file: join(place, 'postgresql.conf'),
    hba_file: join(place, 'pg_hba.conf'),
    listen_addresses: '',
    unix_socket_directories: place,
    unix_socket_permissions: '0700',
    port: '5432',
    recovery_target_action: 'promote',
    // A standby of smaller limits than its primary would pause.
    hot_standby: 'off',
    // Nothing of this server may leave it, or wait for another one.
    archive_mode: 'off',
    archive_cleanup_command: '',
    recovery_end_command: '',
    primary_conninfo: '',
    primary_slot_name: '',
    synchronous_standby_names: '',
    shared_preload_libraries: '',
    session_preload_libraries: '',
    local_preload_libraries: '',
    ssl: 'off',
    external_pid_file: '',
    logging_collector: 'off',
    log_destination: 'stderr',
    shared_buffers: '64MB',
    huge_pages: 'off',
    max_connections: '40',
  }
}

const pollMs = 100
// 36,000 times 100 ms: an hour of replay.
const pollsMax = 36_000

async function awaitRestored(
  { clock, repository: { interrupted } }: ScratchOptions,
  { url, server }: { readonly url: string; readonly server: Server },
): Promise<void> {
  for (let poll = 0; poll < pollsMax; poll++) {
    const failure = server.failure()
    if (failure !== undefined)
      throw new Fault(`the restored cluster does not start: ${failure.trim()}`, { retryable: false })
    if (await isRestored(url)) return
    await clock.sleep(pollMs, interrupted)
  }
  throw new Fault('the backup was not restored within an hour', { retryable: true })
}
