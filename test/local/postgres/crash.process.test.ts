import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { findAccount, spawnAs } from '@tollbook/sandbox/postgres/systemUser'
import { findPackage, linkBinaries } from '@tollbook/sandbox/postgres/binaries'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { choosePort } from '@tollbook/sandbox/postgres/freePort'
import { findCommandLine } from '@tollbook/sandbox/postgres/processTable'
import { silentLog } from '../../../src/machine/log.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { startPostgresCluster } from '../../support/postgresCluster.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { awaitEndOf, childrenOf, startOwner } from './owner.ts'
import { queryColumn } from './query.ts'
import { makeZombie } from './zombie.ts'

const scratch = await makeScratchDirectory()
const dataDirectory = `${scratch}/postgres`
const start = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataDirectory, log: silentLog })

test('after kill -9 of the postmaster under ten writers it is back on the same port with every acknowledged row', async () => {
  const cluster = await startPostgresCluster()
  const { adminUrl } = await cluster.createDatabase()
  await queryColumn(adminUrl, 'create table written (id bigint primary key)')
  const writers = startWriters(adminUrl)
  for (let kill = 1; kill <= 3; kill++) {
    await writers.reach(kill * 500)
    cluster.killPostmaster()
    await cluster.awaitReturn()
  }
  await writers.reach(2_000)
  const acknowledged = await writers.stop()

  const stored = new Set(await queryColumn(adminUrl, 'select id from written'))
  expect(acknowledged.filter((id) => !stored.has(String(id)))).toEqual([])
  expect(acknowledged.length).toBeGreaterThanOrEqual(2_000)
})

test('kill -9 of the owner leaves no Postgres behind, and the next start finds the data', async () => {
  const owner = await startOwner({ dataDirectory })
  await queryColumn(owner.adminUrl, 'create table kept as select 7 as id')
  owner.kill('SIGKILL')
  await awaitEndOf(owner.postmasterPid)

  const postgres = await start()
  expect(await queryColumn(postgres.adminUrl, 'select id from kept')).toEqual(['7'])
  await postgres.stop()
})

test('an orphan whose watchdog died too is stopped by the next start, which keeps its data', async () => {
  const owner = await startOwner({ dataDirectory })
  await queryColumn(owner.adminUrl, 'create table orphaned as select 8 as id')
  const others = (await childrenOf(owner.pid)).filter((pid) => pid !== owner.postmasterPid)
  expect(others).toHaveLength(1)
  for (const pid of [...others, owner.pid]) process.kill(pid, 'SIGKILL')
  await owner.ended
  expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])

  const postgres = await start()
  expect(await findCommandLine(owner.postmasterPid)).toBeUndefined()
  expect(await queryColumn(postgres.adminUrl, 'select id from orphaned')).toEqual(['8'])
  await postgres.stop()
})

test('a directory in use by another live process is refused, and that one is not disturbed', async () => {
  const owner = await startOwner({ dataDirectory })
  await expect(start()).rejects.toThrow(`in use by process ${owner.pid}`)
  expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])
  expect(await findCommandLine(owner.postmasterPid)).toContain(dataDirectory)
  owner.kill('SIGTERM')
  await owner.ended
})

test('Ctrl-C reaches the owner and not Postgres, so that the owner can drain', async () => {
  const owner = await startOwner({ dataDirectory })
  process.kill(-owner.pid, 'SIGINT')
  expect(await owner.nextLine()).toBe('draining')
  expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])
  owner.kill('SIGTERM')
  await owner.ended
  expect(await findCommandLine(owner.postmasterPid)).toBeUndefined()
})

test('a stale postmaster.pid whose number now belongs to another live process does not hinder a start', async () => {
  await writePostmasterFile(process.pid)
  await expectStart()
})

test('a stale postmaster.pid that names a zombie does not hinder a start', async () => {
  await writePostmasterFile(await makeZombie())
  await expectStart()
})

test('a half-made cluster of a start that was killed during initdb is created again', async () => {
  const unfinished = `${scratch}/half`
  await mkdir(`${unfinished}.initialising-killed/base`, { recursive: true })
  await writeFile(`${unfinished}.initialising-killed/PG_VERSION`, '18\n')
  const postgres = await startEmbeddedPostgres({ dataDirectory: unfinished, log: silentLog })
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
  expect((await readdir(scratch)).filter((name) => name.includes('.initialising'))).toEqual([])
  await postgres.stop()
})

test('a Postgres that another process started in the directory is left alone, and the start refused', async () => {
  const binaries = await linkBinaries(findPackage())
  const account = await findAccount(binaries, dataDirectory)
  const settings = ['-p', String(await choosePort(0)), '-c', 'unix_socket_directories=']
  const foreign = spawnAs(account, [`${binaries}/bin/postgres`, ...settings, '-D', dataDirectory], { stdio: 'ignore' })
  await awaitThat('the foreign Postgres is up', async () =>
    (await readFile(`${dataDirectory}/postmaster.pid`, 'utf8').catch(() => '')).includes('ready'),
  )

  await expect(start()).rejects.toThrow(`that Tollbook did not start (process ${foreign.pid})`)
  expect(foreign.exitCode).toBeNull()
  const ended = new Promise((resolve) => foreign.once('exit', resolve))
  foreign.kill('SIGINT')
  await ended
})

async function expectStart(): Promise<void> {
  const postgres = await start()
  expect(await queryColumn(postgres.adminUrl, 'select 1')).toEqual(['1'])
  await postgres.stop()
}

async function writePostmasterFile(pid: number): Promise<void> {
  const file = `${dataDirectory}/postmaster.pid`
  await rm(file, { force: true })
  await writeFile(file, `${pid}\n${dataDirectory}\n1795270117\n25432\n\n127.0.0.1\n  1 1\nready   \n`, { mode: 0o644 })
}

interface Writers {
  /** Returns when that many rows have been acknowledged in all. */
  reach(rows: number): Promise<void>
  /** The ids of all acknowledged rows. */
  stop(): Promise<readonly number[]>
}

function startWriters(url: string): Writers {
  const acknowledged: number[] = []
  let nextId = 0
  const stopping = new AbortController()
  const write = async (session: Client): Promise<void> => {
    while (!stopping.signal.aborted) {
      const id = nextId++
      await session.query('insert into written values ($1)', [id])
      acknowledged.push(id)
    }
  }
  const writeThroughCrashes = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const session = new Client({ connectionString: url })
      session.on('error', () => undefined)
      // A failed write was never acknowledged; the crash is the point of the test.
      await session
        .connect()
        .then(() => write(session))
        .catch(() => undefined)
      await session.end().catch(() => undefined)
    }
  }
  const running = Promise.all(Array.from({ length: writersCount }, writeThroughCrashes))
  return {
    reach: async (rows) => {
      await awaitThat(`${rows} rows are written`, () => acknowledged.length >= rows)
    },
    stop: async () => {
      stopping.abort()
      await running
      return acknowledged
    },
  }
}

const writersCount = 10
