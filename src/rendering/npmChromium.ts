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

// Unpacking usually takes seconds, and longer on a busy machine.
const unpackTimeoutMs = 120_000
const readableByAll = 0o755
const rootDirectory = '/var/cache/tollbook'

/**
 * Unpacks the browser of npm, for machines without a browser. The unpacked files are reused until the version changes.
 * Undefined if the package does not support this machine.
 */
export async function unpackNpmChromium(signal: AbortSignal) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const directory = await unpackedDirectory(await packageVersion(), signal)
  const { path, libraries, fontConfiguration } = placesIn(directory)
  return { path, environment: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fontConfiguration } }
}

function placesIn(directory: string) {
  return {
    path: join(directory, 'chromium'),
    // The package contains NSS and expat, so that a minimal Debian needs no other package.
    libraries: join(directory, 'al2023', 'lib'),
    fontConfiguration: join(directory, 'fonts.conf'),
  }
}

const packageJson = z.object({ version: z.string() })

/**
 * Returns the version of the unpacked files. It includes the version of the fonts, because one directory contains the
 * browser and its fonts.
 */
async function packageVersion(): Promise<string> {
  // The package does not export its package.json, which is one folder above the entry point's folder.
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const file = join(dirname(entry), '..', 'package.json')
  const { version } = packageJson.parse(JSON.parse(await readFile(file, 'utf8')))
  return `${version}-fonts${await fontsVersion()}`
}

/**
 * Returns the folder of the unpacked browser. Only this user may write the folder: the package itself would use any
 * content of /tmp/chromium, whatever its version and owner. If another user owns a folder of that name, a new folder is
 * created.
 */
async function unpackedDirectory(version: string, signal: AbortSignal): Promise<string> {
  const uid = process.getuid?.() ?? 0
  const ofRoot = join(rootDirectory, `tollbook-chromium-${version}-0`)
  // Prefer the copy that root owns, because a worker that runs as `nobody` must not be able to change the program.
  if (await isOurs(ofRoot, 0)) return ofRoot
  const wanted = join(await executableDirectory(uid), `tollbook-chromium-${version}-${uid}`)
  if (await isOurs(wanted, uid)) return wanted
  const fresh = await mkdtemp(`${wanted}-`)
  try {
    await unpackInto(fresh, signal)
    // Another process may be unpacking at the same time. The first rename of a complete folder takes effect.
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
 * Returns a folder from which programs may run. Does not try /tmp, because hardened hosts mount it noexec, as Docker
 * does with a tmpfs. A service that runs as root usually starts the browser as `nobody` (`launchBrowser.ts`), who must
 * be able to enter the folder. Root therefore uses /var/cache instead of its home.
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

/** Tests `access` for execution, because Linux refuses it on a noexec mount, whatever the mode of the file. */
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
    // Set this variable, so that the package also unpacks its libraries and fonts.
    env: { TMPDIR: directory, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' },
    timeout: unpackTimeoutMs,
    signal,
  })
  // Make the files readable for all, because the browser may run as another user than the service (`launchBrowser.ts`).
  await chmod(directory, readableByAll)
  await chmod(placesIn(directory).path, readableByAll)
}
