import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { choosePort } from '@tollbook/sandbox/postgres/freePort'
import { awaitThat } from '../../support/awaitThat.ts'
import { ask } from '../failover/replicas.ts'

/** A cluster of installed programs of Postgres that archives into a repository of pgBackRest. */
export interface DebianCluster extends AsyncDisposable {
  readonly adminUrl: string
  /** Closed to other users. */
  readonly place: string
  /** User and environment of the programs, the repository among it. */
  readonly account: Account
  readonly repository: Readonly<Record<string, string>>
  /** Folder in which pg_receivewal writes. */
  readonly receivedWal: string
  /** Starts what is in the data directory. */
  start(): Promise<void>
  /** Runs one command of pgBackRest to its end. */
  pgBackRest(words: readonly string[]): Promise<void>
  /** Receives the write-ahead log as it is written, until it is killed. */
  receiveWal(): ChildProcess
  /** kill -9 of the postmaster, then the data directory is removed: the machine is lost. */
  destroy(): Promise<void>
}

export interface Account {
  readonly uid: number
  readonly gid: number
}

const password = 'only-for-this-proof'
const slot = 'tollbook_wal'

/** Folder of the newest Postgres of Debian; undefined without it or without pgBackRest. */
export function findPrograms(): string | undefined {
  if (!existsSync('/usr/bin/pgbackrest')) return undefined
  const found = globSync('/usr/lib/postgresql/*/bin/pg_receivewal').toSorted().at(-1)
  return found === undefined ? undefined : dirname(found)
}

export async function startDebianCluster(programs: string, directory: string): Promise<DebianCluster> {
  const account = accountOfPostgres()
  const place = join(directory, 'cluster')
  const [dataDirectory, receivedWal] = [join(place, 'data'), join(place, 'received')]
  const port = await choosePort(0)
  for (const path of [place, join(place, 'repository'), receivedWal]) {
    mkdirSync(path, { mode: 0o700 })
    chownSync(path, account.uid, account.gid)
  }
  writeFileSync(join(place, 'password'), password)
  chmodSync(join(place, 'password'), 0o644)
  const initdbWords = [
    '-D',
    dataDirectory,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
  ]
  execFileSync(join(programs, 'initdb'), [...initdbWords, '--data-checksums', `--pwfile=${place}/password`], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
  })
  const adminUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const settings = [
    `port=${port}`,
    `unix_socket_directories=${place}`,
    'max_connections=100',
    'listen_addresses=127.0.0.1',
    'archive_mode=on',
    'archive_timeout=60',
    'archive_command=pgbackrest archive-push %p',
  ]
  const repository = {
    PGBACKREST_REPO1_PATH: join(place, 'repository'),
    PGBACKREST_REPO1_RETENTION_FULL: '2',
    PGBACKREST_LOCK_PATH: join(place, 'lock'),
  }
  const env = {
    PATH: '/usr/bin:/bin',
    PGPASSWORD: password,
    PGBACKREST_STANZA: 'tollbook',
    PGBACKREST_PG1_PATH: dataDirectory,
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_SOCKET_PATH: place,
    PGBACKREST_START_FAST: 'y',
    PGBACKREST_LOG_LEVEL_FILE: 'off',
    ...repository,
  }
  const asAccount = { ...account, cwd: '/', env }
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const options = ['-D', dataDirectory, ...settings.flatMap((one) => ['-c', one])]
    child = spawn(join(programs, 'postgres'), options, { ...asAccount, stdio: 'ignore' })
    await awaitThat('the cluster accepts connections', () => accepts(adminUrl))
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    adminUrl,
    place,
    account,
    repository,
    receivedWal,
    start,
    async pgBackRest(command) {
      await promisify(execFile)('pgbackrest', [...command], asAccount)
    },
    receiveWal() {
      const address = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres']
      const options = ['--directory', receivedWal, '--slot', slot, '--synchronous']
      execFileSync(join(programs, 'pg_receivewal'), [...address, ...options, '--create-slot'], asAccount)
      const receiverEnv = { ...env, PGAPPNAME: slot }
      const words = [...address, ...options]
      return spawn(join(programs, 'pg_receivewal'), words, { ...asAccount, env: receiverEnv, stdio: 'ignore' })
    },
    async destroy() {
      await kill()
      await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
    },
    [Symbol.asyncDispose]: kill,
  }
}

async function accepts(adminUrl: string): Promise<boolean> {
  const rows = await ask<{ replays: boolean }>(adminUrl, 'select pg_is_in_recovery() as replays').catch(() => [])
  return rows[0]?.replays === false
}

function accountOfPostgres(): Account {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (own.uid !== 0) return own
  const match = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return match === null ? { uid: 65_534, gid: 65_534 } : { uid: Number(match[1]), gid: Number(match[2]) }
}
