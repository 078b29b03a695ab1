import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { assertPresent } from '@tollbook/core/assert'
import { awaitThat } from '../../support/awaitThat.ts'
import { freePort } from '../../support/freePort.ts'

export interface PgBouncer extends AsyncDisposable {
  /** Leads to the same database, through the pooler. */
  readonly databaseUrl: string
}

export interface PgBouncerOptions {
  readonly databaseUrl: string
  readonly directory: string
  readonly sessionsMax: number
}

const places = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']

/** Undefined when it is not installed. */
export function findPgBouncer(): string | undefined {
  return places.find((place) => existsSync(place))
}

/** In transaction mode, with the settings that docs/operations.md gives. */
export async function startPgBouncer({ databaseUrl, directory, sessionsMax }: PgBouncerOptions): Promise<PgBouncer> {
  const program = assertPresent(findPgBouncer(), 'PgBouncer is installed')
  const target = new URL(databaseUrl)
  const port = await freePort()
  const [settings, users] = [`${directory}/pgbouncer.ini`, `${directory}/users.txt`]
  await writeFile(users, `"${decodeURIComponent(target.username)}" "${decodeURIComponent(target.password)}"\n`)
  await writeFile(
    settings,
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${sessionsMax}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits,statement_timeout,lock_timeout,idle_in_transaction_session_timeout
`,
  )
  for (const file of [settings, users]) await chmod(file, 0o644)
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...account, settings], { stdio: 'ignore' })
  const gone = once(child, 'exit')
  await awaitThat('PgBouncer accepts connections', () => accepts(port))
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    databaseUrl: url.href,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isUp: boolean) => () => {
      socket.destroy()
      resolve(isUp)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })
}
