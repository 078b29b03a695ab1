import { chmod, rename, writeFile } from 'node:fs/promises'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'

export type Settings = Readonly<Record<string, string>>

/**
 * Our settings, in a file next to the data directory and not in it: as root we never write into a directory that a less
 * privileged user could have filled with symbolic links. `ALTER SYSTEM` still works, and wins.
 */
const postgresConfiguration: Settings = {
  listen_addresses: '127.0.0.1',
  // No socket files: loopback TCP with a password is the only way in.
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  // The ledger's promise (design, 3: durability is asserted), so never left to a default.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  default_text_search_config: 'pg_catalog.simple',
  // Ranks above ERROR: a refused claim is an everyday thing, and only with an ERROR would a statement's text be logged.
  log_min_messages: 'log',
  log_line_prefix: '',
}

export interface ConfigurationOptions {
  readonly dataDirectory: string
  readonly port: number
  readonly settings: Settings
}

/** Rewrites both files at each start and returns the path of the main one. */
export async function writeConfiguration(options: ConfigurationOptions): Promise<string> {
  const accessFile = `${options.dataDirectory}.hba.conf`
  const settingsFile = `${options.dataDirectory}.conf`
  const settings = { ...postgresConfiguration, ...options.settings, port: String(options.port), hba_file: accessFile }
  // `all` does not include standbys; only a role with the REPLICATION attribute can use the second line.
  const allowed = ['all', 'replication'].map(
    (database) => `host ${database} all 127.0.0.1/32 scram-sha-256
`,
  )
  await replaceFile(accessFile, allowed.join(''))
  await replaceFile(settingsFile, renderSettings(settings))
  return settingsFile
}

function renderSettings(settings: Settings): string {
  const lines = Object.entries(settings).map(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/.test(name) || /[\0\r\n]/.test(value)) {
      throw new Fault(`${JSON.stringify(name)} is not a Postgres setting`, { retryable: false })
    }
    return `${name} = '${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'\n`
  })
  return `# Written by Tollbook at each start; changes made here are lost.\n${lines.join('')}`
}

/** World-readable for every umask: it contains no secret, and the account that runs Postgres must read it. */
async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomToken()}`
  await writeFile(fresh, text, { flag: 'wx' })
  await chmod(fresh, 0o644)
  await rename(fresh, path)
}
