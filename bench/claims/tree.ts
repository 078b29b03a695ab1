import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '../../test/support/temporaryDirectory.ts'

const run = promisify(execFile)

/** Source code that claims are measured of: this one, or an earlier commit's. */
export interface Tree {
  readonly root: string
  readonly remove: () => Promise<unknown>
}

export const thisTree: Tree = {
  root: fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''),
  remove: () => Promise.resolve(),
}

/** The files of a commit in a temporary folder, with the packages of this tree. Needs the repository's history. */
export async function checkOut(commit: string): Promise<Tree> {
  const directory = await makeTemporaryDirectory()
  const archive = `${directory.path}/tree.tar`
  const root = `${directory.path}/tree`
  await mkdir(root)
  await run('git', [
    '-C',
    thisTree.root,
    'archive',
    `--output=${archive}`,
    commit,
    'src',
    'test',
    'bench',
    'migrations',
    'package.json',
  ])
  await run('tar', ['-xf', archive, '-C', root])
  await symlink(`${thisTree.root}/node_modules`, `${root}/node_modules`)
  return { root, remove: directory.remove }
}
