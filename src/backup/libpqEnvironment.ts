import { assert } from '@tollbook/core/assert'

/** Parameters of a postgres:// URL that the programs of Postgres read from the environment. */
const variables: Readonly<Record<string, string>> = {
  host: 'PGHOST',
  port: 'PGPORT',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
}

/** The connection as environment variables: every user of the machine can read a command line, and with it a password. */
export function libpqEnvironment(databaseUrl: string): Readonly<Record<string, string>> {
  assert(URL.canParse(databaseUrl), 'the configuration has checked the URL')
  const { hostname, port, username, password, searchParams } = new URL(databaseUrl)
  const given: Record<string, string> = {
    // Brackets of an IPv6 address belong to URLs only.
    PGHOST: hostname.replace(/^\[|\]$/g, ''),
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
  }
  for (const [name, value] of searchParams) {
    const variable = variables[name]
    if (variable !== undefined) given[variable] = value
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}
