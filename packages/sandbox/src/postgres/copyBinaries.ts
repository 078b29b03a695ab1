import { existsSync } from 'node:fs'
import { chmod, cp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { randomToken } from '@tollbook/core/id'
import { type Binaries, linkLibraries } from './binaries.ts'

/** A copy made once per version: 60 MB, about half a second. Appears whole or not at all. */
export async function copyBinaries(binaries: Binaries, target: string): Promise<Binaries> {
  const copy = { ...binaries, directory: target }
  if (existsSync(target)) return copy
  const unfinished = `${target}.${randomToken()}`
  await cp(binaries.directory, unfinished, { recursive: true, verbatimSymlinks: true })
  await openToAll(unfinished)
  if (!(await linkLibraries({ ...binaries, directory: unfinished }))) {
    throw new Fault(`could not make the library links in ${unfinished}`, { retryable: false })
  }
  await rename(unfinished, target)
  await removeOtherCopies(target, binaries.version)
  return copy
}

/** `chmod -R a+rX`: an installation under a strict umask has no rights for the account that is to run it. */
async function openToAll(directory: string): Promise<void> {
  const inside = await readdir(directory, { recursive: true })
  for (const path of [directory, ...inside.map((name) => join(directory, name))]) {
    const { mode } = await stat(path)
    const execute = (mode & 0o100) === 0 ? 0 : 0o111
    await chmod(path, mode | 0o444 | execute)
  }
}

/** Those of earlier versions, and what a killed copying left half-made. */
async function removeOtherCopies(target: string, version: string): Promise<void> {
  const stem = basename(target).slice(0, -version.length)
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(stem) || name === basename(target)) continue
    await rm(join(dirname(target), name), { recursive: true, force: true })
  }
}
