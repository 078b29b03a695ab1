import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { findPackage } from '@tollbook/sandbox/postgres/binaries'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { silentLog } from '../../../src/machine/log.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { awaitEndOf } from './owner.ts'
import { queryColumn } from './query.ts'

const scratch = await makeScratchDirectory()
const home = `${scratch}/it's a home`
const dataDirectory = `${home}/postgres`
const settings = { work_mem: '5MB', 'tollbook.greeting': "it's" }
const start = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataDirectory, log: silentLog, settings })

let postgres: EmbeddedPostgres
let seenDuringColdStart: readonly string[]

beforeAll(async () => {
  const watched = watchCommandLines()
  postgres = await start()
  seenDuringColdStart = await watched.stop()
})
afterAll(() => postgres.stop())

test('a cold start makes a durable, checksummed cluster in UTF-8, C.UTF-8 and UTC', async () => {
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'server_encoding', 'TimeZone']
  expect(await Promise.all(names.map(show))).toEqual(['on', 'on', 'on', 'on', 'UTF8', 'UTC'])
  expect(
    await queryColumn(postgres.adminUrl, "select datlocale from pg_database where datlocprovider = 'b' order by oid"),
  ).toEqual(['C.UTF-8', 'C.UTF-8', 'C.UTF-8'])
})

test('it listens on loopback only and opens no socket file', async () => {
  expect(await show('listen_addresses')).toBe('127.0.0.1')
  expect(await show('unix_socket_directories')).toBe('')
})

test('settings of the caller reach the server, quotes and all', async () => {
  expect(await show('work_mem')).toBe('5MB')
  expect(await show('tollbook.greeting')).toBe("it's")
})

test('no client can log in without the password, and it is stored as scram-sha-256', async () => {
  const wrong = postgres.urlFor({ user: 'postgres', password: 'guess', database: 'postgres' })
  await expect(queryColumn(wrong, 'select 1')).rejects.toThrow('password authentication failed')
  const [stored] = await queryColumn(postgres.adminUrl, "select rolpassword from pg_authid where rolname = 'postgres'")
  expect(stored).toMatch(/^SCRAM-SHA-256\$/)
})

test('only its owner can read the password file, and no other file next to the data contains the password', async () => {
  const password = new URL(postgres.adminUrl).password
  expect((await stat(`${dataDirectory}.password`)).mode & 0o777).toBe(0o600)
  const holders: string[] = []
  for (const entry of await readdir(home, { withFileTypes: true })) {
    if (!entry.isFile()) continue
    if ((await readFile(`${home}/${entry.name}`, 'utf8')).includes(password)) holders.push(entry.name)
  }
  expect(holders).toEqual(['postgres.password'])
})

test('the password is on no command line, neither during initdb nor later', async () => {
  const password = new URL(postgres.adminUrl).password
  expect(seenDuringColdStart.some((line) => line.includes('initdb'))).toBe(true)
  expect(seenDuringColdStart.filter((line) => line.includes(password))).toEqual([])
  expect((await allCommandLines()).filter((line) => line.includes(password))).toEqual([])
})

test('urlFor escapes what a URL cannot hold', async () => {
  const url = postgres.urlFor({ user: 'postgres', password: 'p@ss/w:rd?', database: 'a b' })
  expect(new URL(url).pathname).toBe('/a%20b')
  expect(decodeURIComponent(new URL(url).password)).toBe('p@ss/w:rd?')
})

test('clients connect although the machine asks for TLS to its databases', async () => {
  vi.stubEnv('PGSSLMODE', 'require')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
})

test('a second start in the same directory is refused, and the first goes on', async () => {
  await expect(start()).rejects.toThrow(`in use by process ${process.pid}`)
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
})

test('another directory serves side by side with its own data and its own password', async () => {
  const other = await startEmbeddedPostgres({ dataDirectory: `${scratch}/other`, log: silentLog })
  try {
    await queryColumn(other.adminUrl, 'create table only_here (id int)')
    expect(await queryColumn(postgres.adminUrl, "select to_regclass('only_here')")).toEqual(['null'])
    expect(new URL(other.adminUrl).password).not.toBe(new URL(postgres.adminUrl).password)
    expect(other.port).not.toBe(postgres.port)
  } finally {
    await other.stop()
  }
})

test('a stop ends the postmaster, may be called twice, and a warm start finds what was committed', async () => {
  await queryColumn(postgres.adminUrl, 'create table kept as select 7 as id')
  const pid = postgres.pid()
  await Promise.all([postgres.stop(), postgres.stop()])
  await awaitEndOf(pid)

  postgres = await start()
  expect(await queryColumn(postgres.adminUrl, 'select id from kept')).toEqual(['7'])
})

test('a lost password file is reported, and restoring it fixes the start', async () => {
  await postgres.stop()
  await rename(`${dataDirectory}.password`, `${scratch}/aside`)
  await expect(start()).rejects.toThrow('has lost its password file')
  await rename(`${scratch}/aside`, `${dataDirectory}.password`)
  postgres = await start()
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
})

test('a wanted port is used, and a taken one is refused by name', async () => {
  await postgres.stop()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(startEmbeddedPostgres({ dataDirectory, port, log: silentLog })).rejects.toThrow(`port ${port} is taken`)
  await new Promise((resolve) => taken.close(resolve))
  postgres = await startEmbeddedPostgres({ dataDirectory, port, log: silentLog })
  expect(postgres.port).toBe(port)
  expect(new URL(postgres.adminUrl).port).toBe(String(port))
})

test('a data directory of another major version is refused in the words of Postgres, and kept', async () => {
  await postgres.stop()
  await writeFile(`${dataDirectory}/PG_VERSION`, '15\n')
  await expect(start()).rejects.toThrow('was initialized by PostgreSQL version 15')
  await writeFile(`${dataDirectory}/PG_VERSION`, '18\n')
  postgres = await start()
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
})

test('a directory with other files in it is refused and left as it was', async () => {
  const pictures = `${scratch}/pictures`
  await mkdir(pictures)
  await writeFile(`${pictures}/cat.png`, 'meow')
  await expect(startEmbeddedPostgres({ dataDirectory: pictures, log: silentLog })).rejects.toThrow('neither empty nor')
  expect(await readdir(pictures)).toEqual(['cat.png'])
})

test('a setting that Postgres does not know is reported in its own words, without further attempts', async () => {
  await expect(
    startEmbeddedPostgres({ dataDirectory: `${scratch}/other`, log: silentLog, settings: { no_such_setting: '1' } }),
  ).rejects.toThrow('unrecognized configuration parameter "no_such_setting"')
})

test.each(['linux-riscv64', 'sunos-x64', 'win32-x64'])('on %s the way out is named: DATABASE_URL', (platform) => {
  expect(() => findPackage(platform)).toThrow('Set DATABASE_URL')
})

async function show(setting: string): Promise<string | undefined> {
  const [value] = await queryColumn(postgres.adminUrl, `show ${setting}`)
  return value
}

async function allCommandLines(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
}

/** Looks at the process table again and again until it is told to stop. */
function watchCommandLines(): { stop: () => Promise<readonly string[]> } {
  const seen = new Set<string>()
  const stopping = new AbortController()
  const watching = (async () => {
    while (!stopping.signal.aborted) for (const line of await allCommandLines()) seen.add(line)
  })()
  return {
    stop: async () => {
      stopping.abort()
      await watching
      return [...seen]
    },
  }
}
