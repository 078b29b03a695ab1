import { readFileSync, statfsSync } from 'node:fs'
import { availableMemory } from 'node:process'
import { tmpdir } from 'node:os'

const memoryFolder = '/dev/shm'
const gibibyte = 1_073_741_824

/**
 * Directory for the temporary directories of a test run: memory, where the machine has enough, because a disk takes
 * eight times as long to copy and drop a database. Postgres keeps its durable settings, and what it wrote survives
 * `kill -9` in memory as on disk. `TMPDIR` selects another directory.
 */
export function temporaryFolder(): string {
  chosen ??= process.env['TMPDIR'] === undefined && isRoomy() ? memoryFolder : tmpdir()
  return chosen
}

let chosen: string | undefined

/** A run uses at most 1 GiB. Containers often limit the file system to 64 MB, or forbid programs on it. */
function isRoomy(): boolean {
  if (process.platform !== 'linux') return false
  const mount = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memoryFolder)
  if (mount === undefined || !/^\S+ \S+ tmpfs rw/.test(mount) || mount.includes('noexec')) return false
  const { bavail, bsize } = statfsSync(memoryFolder)
  return bavail * bsize >= 4 * gibibyte && availableMemory() >= 6 * gibibyte
}
