import { execFile } from 'node:child_process'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/** The source of a release out of this repository's history, with the installed packages of this one. */
export interface EarlierRelease {
  readonly root: string
  /** Runs the release's server process: `spawnServer` takes it. */
  readonly entry: string
  migrate(options: { readonly databaseUrl: string }): Promise<unknown>
  remove(): Promise<unknown>
}

interface MigrateModule {
  migrate(options: { readonly databaseUrl: string }): Promise<unknown>
}

export async function checkOutRelease(commit: string): Promise<EarlierRelease> {
  const directory = await makeTemporaryDirectory()
  const tree = `${directory.path}/release`
  await mkdir(tree)
  const archive = `${directory.path}/release.tar`
  const parts = ['src', 'packages', 'test', 'migrations', 'package.json', 'tsconfig.json']
  await run('git', ['-C', root, 'archive', `--output=${archive}`, commit, ...parts])
  await run('tar', ['-xf', archive, '-C', tree])
  await linkPackages(tree)
  const { migrate }: MigrateModule = await import(`${tree}/src/store/migrate.ts`)
  return { root: tree, entry: `${tree}/test/proofs/serverProcess.ts`, migrate, remove: directory.remove }
}

/** Its own workspaces and everything else as installed here. */
async function linkPackages(tree: string): Promise<void> {
  const ours = '@tollbook'
  await mkdir(`${tree}/node_modules/${ours}`, { recursive: true })
  for (const name of await readdir(`${root}/node_modules`))
    if (name !== ours) await symlink(`${root}/node_modules/${name}`, `${tree}/node_modules/${name}`)
  for (const name of await readdir(`${tree}/packages`))
    await symlink(`${tree}/packages/${name}`, `${tree}/node_modules/${ours}/${name}`)
}
