import { spawnSync } from 'node:child_process'
import { chmod, chown, cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { Account } from '@tollbook/sandbox/postgres/account'
import { accountsToTry } from '@tollbook/sandbox/postgres/accountsToTry'
import { type Binaries, binariesIn, findBinaries } from '@tollbook/sandbox/postgres/binaries'
import { type Cluster, startCluster } from '@tollbook/sandbox/postgres/cluster'
import { type RunResult, runCommand } from '@tollbook/sandbox/postgres/runCommand'
import { assertPresent } from '@tollbook/core/assert'
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
const [plainAccount, ...otherAccounts] = await accountsToTry()
const canMakeNamespaces = otherAccounts[0] !== undefined && (await runShell(otherAccounts[0], 'true')).succeeded
const nobodyCanRunNode = isRoot && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: '/' }).status === 0

const scratch = await makeScratchDirectory()
const installed = await findBinaries()
/** Scratch state: each test that uses it first brings it into the state that it needs. */
const packageCopy = `${scratch}/package`
await cp(dirname(installed.directory), packageCopy, { recursive: true, verbatimSymlinks: true })

test.runIf(isRoot)('root runs Postgres as `nobody`, who owns the data', async () => {
  const cluster = await startIn('open')
  expect(await userOf(cluster.pid())).toBe(nobody.uid)
  expect((await stat(`${scratch}/open/postgres`)).uid).toBe(nobody.uid)
  await cluster.stop()
})

test.runIf(isRoot && canMakeNamespaces)(
  'below a directory that is closed to others root runs it in a user namespace, with the data it had before',
  async () => {
    const cluster = await startIn('open')
    await queryColumn(adminUrlOf(cluster), 'create table kept as select 7 as id')
    await cluster.stop()

    await chmod(`${scratch}/open`, 0o700)
    const owner = await startOwner({ dataDirectory: `${scratch}/open/postgres` })
    expect(await userOf(owner.postmasterPid)).toBe(0)
    expect(await queryColumn(owner.adminUrl, 'select id from kept')).toEqual(['7'])
    owner.kill('SIGKILL')
    await awaitEndOf(owner.postmasterPid)

    await chmod(`${scratch}/open`, 0o755)
    const reopened = await startIn('open')
    expect(await userOf(reopened.pid())).toBe(nobody.uid)
    expect(await queryColumn(adminUrlOf(reopened), 'select id from kept')).toEqual(['7'])
    await reopened.stop()
  },
)

test.runIf(nobodyCanRunNode)('an ordinary user gets instructions for data that belongs to root', async () => {
  await mkdir(`${scratch}/roots/postgres`, { recursive: true, mode: 0o755 })
  await chown(`${scratch}/roots`, nobody.uid, nobody.gid)
  const words = [ownerProgram, `${scratch}/roots/postgres`]
  const { stderr } = spawnSync(process.execPath, words, { ...nobody, cwd: '/', encoding: 'utf8' })
  expect(stderr).toContain('belongs to user 0')
  expect(stderr).toContain('chown -R')
})

test.runIf(isRoot && canMakeNamespaces)(
  'each way of root into a directory that is closed to others works by itself, and none is root to Postgres',
  async () => {
    const closed = `${scratch}/closed`
    await mkdir(closed, { mode: 0o700 })
    const enter = `id -u; cd ${closed}`
    expect((await runShell(assertPresent(plainAccount, 'there is a first account'), enter)).succeeded).toBe(false)
    expect(otherAccounts.map((account) => account.name)).toEqual([
      'user namespace',
      'the unprivileged user with a capability',
    ])
    for (const account of otherAccounts) {
      expect(await runShell(account, enter)).toEqual({ succeeded: true, output: String(nobody.uid) })
    }
  },
)

test.runIf(nobodyCanRunNode && canMakeNamespaces)(
  'a user without a line in /etc/passwd, as in a container, is given a name by a user namespace',
  async () => {
    const stranger = 54_321
    const home = await makeHome('stranger')
    await chown(home, stranger, stranger)
    const owner = await startOwner({ dataDirectory: `${home}/postgres`, uid: stranger })
    expect(await userOf(owner.postmasterPid)).toBe(stranger)
    expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])
    owner.kill('SIGTERM')
    await owner.ended
  },
)

test('links that the package lacks are made in place where that is possible', async () => {
  await removeLinks()
  const cluster = await startIn('linked', await binariesIn(packageCopy))
  await cluster.stop()
  expect(await countLinks()).toBeGreaterThan(0)
  expect((await readdir(`${scratch}/linked`)).filter((name) => name.includes('binaries'))).toEqual([])
})

test.runIf(nobodyCanRunNode)(
  'an ordinary user with a strict umask and a read-only package without links gets a separate linked copy',
  async () => {
    await removeLinks()
    const home = await makeHome('ordinary')
    const owner = await startOwner({
      dataDirectory: `${home}/postgres`,
      packageDirectory: packageCopy,
      uid: nobody.uid,
      umask: '077',
    })
    expect(await userOf(owner.postmasterPid)).toBe(nobody.uid)
    expect(await queryColumn(owner.adminUrl, 'select 1')).toEqual(['1'])
    expect((await stat(`${home}/postgres.password`)).mode & 0o777).toBe(0o600)
    expect(await countLinks()).toBe(0)
    owner.kill('SIGTERM')
    await owner.ended
  },
)

test.runIf(isRoot)(
  'binaries below a directory that is closed to others are copied next to the data, once',
  async () => {
    // As npm leaves it for a root whose umask is 077.
    spawnSync('chmod', ['-R', 'go-rwx', packageCopy])
    const first = await startIn('home', await binariesIn(packageCopy))
    await first.stop()
    const copy = `${scratch}/home/postgres.binaries-${installed.version}`
    const { birthtimeMs } = await stat(copy)

    const second = await startIn('home', await binariesIn(packageCopy))
    expect(await queryColumn(adminUrlOf(second), 'select 1')).toEqual(['1'])
    await second.stop()
    expect((await stat(copy)).birthtimeMs).toBe(birthtimeMs)
  },
)

test('where nothing works each obstacle is named, with the ways out', async () => {
  const fake = `${scratch}/fake`
  await mkdir(`${fake}/native/bin`, { recursive: true })
  await writeFile(`${fake}/package.json`, '{"version":"18.4.0"}')
  await writeFile(`${fake}/native/pg-symlinks.json`, '[]')
  await writeFile(`${fake}/native/bin/postgres`, '#!/bin/sh\necho no libc for me here\nexit 1\n', { mode: 0o755 })
  await expect(startIn('nowhere', await binariesIn(fake))).rejects.toThrow(
    /no libc for me here.*TOLLBOOK_HOME.*DATABASE_URL/,
  )
})

async function startIn(home: string, binaries: Binaries = installed): Promise<Cluster> {
  const dataDirectory = `${scratch}/${home}/postgres`
  return startCluster({ binaries, dataDirectory, port: 0, settings: {}, log: silentLog })
}

function runShell(account: Account, script: string): Promise<RunResult> {
  return runCommand({ account, program: '/bin/sh', arguments: ['-c', script], timeoutMs: 10_000 })
}

function adminUrlOf(cluster: Cluster): string {
  return `postgres://postgres:${cluster.password}@127.0.0.1:${cluster.port}/postgres`
}

async function makeHome(name: string): Promise<string> {
  const home = `${scratch}/${name}`
  await mkdir(home)
  await chown(home, nobody.uid, nobody.gid)
  return home
}

async function removeLinks(): Promise<void> {
  for (const path of await linksInCopy()) await rm(path)
}

async function countLinks(): Promise<number> {
  return (await linksInCopy()).length
}

async function linksInCopy(): Promise<readonly string[]> {
  const entries = await readdir(`${packageCopy}/native/lib`, { withFileTypes: true })
  return entries.filter((entry) => entry.isSymbolicLink()).map((entry) => `${entry.parentPath}/${entry.name}`)
}

/** The real user id of a running process, as the machine sees it. */
async function userOf(pid: number): Promise<number> {
  return (await stat(`/proc/${pid}`)).uid
}
