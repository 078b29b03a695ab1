import { spawnSync } from 'node:child_process'
import { chmod, chown, cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { accountsToTry, findAccount, runAs } from '@tollbook/sandbox/postgres/systemUser'
import { findPackage, linkBinaries } from '@tollbook/sandbox/postgres/binaries'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { silentLog } from '../../../src/machine/log.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { awaitEndOf, ownerProgram, startOwner } from './owner.ts'
import { queryColumn } from './query.ts'

/*
 * Postgres refuses to run as root, so root has to switch to another account. Setups that need root are skipped for an
 * ordinary user, who is covered by every other test of this folder; the other conditions depend on the machine.
 */
const nobody = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const nobodyCanRunNode = isRoot && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: '/' }).status === 0

const scratch = await makeScratchDirectory()
/** Scratch state: each test that uses it first brings it into the state that it needs. */
const packageCopy = `${scratch}/package`
await cp(findPackage(), packageCopy, { recursive: true, verbatimSymlinks: true })

test.runIf(isRoot)('root runs Postgres as `nobody`, who owns the data', async () => {
  const postgres = await startIn('open')
  expect(await userOf(postgres.pid())).toBe(nobody.uid)
  expect((await stat(`${scratch}/open/postgres`)).uid).toBe(nobody.uid)
  await postgres.stop()
})

test.runIf(isRoot)('below a directory that is closed to others root keeps the data it had before', async () => {
  const postgres = await startIn('open')
  await queryColumn(postgres.adminUrl, 'create table kept as select 7 as id')
  await postgres.stop()

  await chmod(`${scratch}/open`, 0o700)
  const owner = await startOwner({ dataDirectory: `${scratch}/open/postgres` })
  expect(await userOf(owner.postmasterPid)).toBe(nobody.uid)
  expect(await queryColumn(owner.adminUrl, 'select id from kept')).toEqual(['7'])
  owner.kill('SIGKILL')
  await awaitEndOf(owner.postmasterPid)
})

test.runIf(isRoot)('only the second account of root enters a directory that is closed to others', async () => {
  const closed = `${scratch}/closed`
  await mkdir(closed, { mode: 0o700 })
  const [plain, capable] = await accountsToTry()
  const enters = async (account = plain) =>
    account !== undefined &&
    (await runAs(account, { program: '/bin/sh', words: ['-c', `cd ${closed}`], timeoutMs: 10_000 })) === undefined
  expect([await enters(plain), await enters(capable)]).toEqual([false, true])
  expect(await findAccount(await linkBinaries(findPackage()), `${closed}/postgres`)).toEqual(capable)
})

test.runIf(nobodyCanRunNode)('an ordinary user gets instructions for data that belongs to root', async () => {
  await mkdir(`${scratch}/roots/postgres`, { recursive: true, mode: 0o755 })
  await writeFile(`${scratch}/roots/postgres/PG_VERSION`, '18\n')
  await chown(`${scratch}/roots`, nobody.uid, nobody.gid)
  const words = [ownerProgram, `${scratch}/roots/postgres`]
  const { stderr } = spawnSync(process.execPath, words, { ...nobody, cwd: '/', encoding: 'utf8' })
  expect(stderr).toContain('belongs to user 0')
  expect(stderr).toContain('chown -R')
})

test('links that the package lacks are made', async () => {
  await removeLinks()
  const postgres = await startIn('linked', packageCopy)
  await postgres.stop()
  expect(await linksInCopy()).not.toEqual([])
})

test.runIf(nobodyCanRunNode)(
  'an ordinary user with a strict umask uses a package that is read-only, once its owner has made the links',
  async () => {
    const home = `${scratch}/ordinary`
    await mkdir(home)
    await chown(home, nobody.uid, nobody.gid)
    await removeLinks()
    const options = { dataDirectory: `${home}/postgres`, packageDirectory: packageCopy, uid: nobody.uid, umask: '077' }
    const words = [ownerProgram, options.dataDirectory, packageCopy]
    const refused = spawnSync(process.execPath, words, { ...nobody, cwd: '/', encoding: 'utf8' })
    expect(refused.stderr).toMatch(/cannot make the library link .* as the user who owns it/)

    await linkBinaries(packageCopy)
    const owner = await startOwner(options)
    expect(await userOf(owner.postmasterPid)).toBe(nobody.uid)
    expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])
    expect((await stat(`${home}/postgres.password`)).mode & 0o777).toBe(0o600)
    owner.kill('SIGTERM')
    await owner.ended
  },
)

test('where nothing works each obstacle is named, with the ways out', async () => {
  const fake = `${scratch}/fake`
  await mkdir(`${fake}/native/bin`, { recursive: true })
  await writeFile(`${fake}/native/pg-symlinks.json`, '[]')
  await writeFile(`${fake}/native/bin/postgres`, '#!/bin/sh\necho no libc for me here >&2\nexit 1\n', { mode: 0o755 })
  await expect(startIn('nowhere', fake)).rejects.toThrow(/no libc for me here[^]*TOLLBOOK_HOME.*DATABASE_URL/)
})

async function startIn(home: string, packageDirectory = findPackage()): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDirectory: `${scratch}/${home}/postgres`, packageDirectory, log: silentLog })
}

async function removeLinks(): Promise<void> {
  for (const path of await linksInCopy()) await rm(path)
}

async function linksInCopy(): Promise<readonly string[]> {
  const entries = await readdir(`${packageCopy}/native/lib`, { withFileTypes: true })
  return entries.filter((entry) => entry.isSymbolicLink()).map((entry) => `${entry.parentPath}/${entry.name}`)
}

/** The real user id of a running process, as the machine sees it. */
async function userOf(pid: number): Promise<number> {
  return (await stat(`/proc/${pid}`)).uid
}
