import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { choosePort } from '@tollbook/sandbox/postgres/freePort'
import { changeOwner } from '../../../src/backup/layOutBackup.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { ask } from '../failover/replicas.ts'

/** A cluster of installed programs of Postgres, which the embedded one lacks: pg_basebackup, pg_receivewal. */
export interface DebianCluster extends AsyncDisposable {
  readonly adminUrl: string
  readonly dataDirectory: string
  /** Starts what is in the data directory. */
  start(): Promise<void>
  /** kill -9 of the postmaster, then the data directory is removed: the machine is lost. */
  destroy(): Promise<void>
}

const password = 'only-for-this-proof'

export async function startDebianCluster(programs: string, directory: string): Promise<DebianCluster> {
  const account = accountOfPostgres()
  const place = join(directory, 'cluster')
  const dataDirectory = join(place, 'data')
  const port = await choosePort(0)
  mkdirSync(place, { mode: 0o700 })
  writeFileSync(join(place, 'password'), password)
  chmodSync(place, 0o700)
  for (const path of [place, join(place, 'password')]) chownSync(path, account.uid, account.gid)
  const words = ['-D', dataDirectory, '--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C']
  execFileSync(join(programs, 'initdb'), [...words, '--data-checksums', `--pwfile=${place}/password`], {
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
  ]
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    await changeOwner(account, place)
    child = spawn(join(programs, 'postgres'), ['-D', dataDirectory, ...settings.flatMap((one) => ['-c', one])], {
      ...account,
      cwd: '/',
      stdio: 'ignore',
    })
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
    dataDirectory,
    start,
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

function accountOfPostgres(): { readonly uid: number; readonly gid: number } {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (own.uid !== 0) return own
  const match = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return match === null ? { uid: 65_534, gid: 65_534 } : { uid: Number(match[1]), gid: Number(match[2]) }
}
