import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { PayerFault } from './errorCode.ts'
import { hasCode, unlessCode } from './fileError.ts'

/*
 * A lock between processes: a file that its holder touches while it runs. Each waiting process has a file too. A lock
 * may be broken by mistake, so two holders at the same time must cause no damage.
 */

export type FolderLock = Awaited<ReturnType<typeof takeFolderLock>>

interface LockQuestion {
  readonly folder: string
  readonly name: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

export const waitSuffix = '.wait'

const pollMs = 50
// Maximum wait for a lock, in milliseconds. It is long, because several processes may wait in front of this one.
const waitMaxMs = 900_000
const beatMs = 2_000
// Five heartbeat intervals, because a busy machine may miss one or two.
const silentMaxMs = 10_000
const privateFile = 0o600

/**
 * Waits for the lock and takes it. Throws a retryable fault after 15 minutes, or the signal's reason when the signal is
 * aborted.
 */
export async function takeFolderLock({ folder, name, clock, signal }: LockQuestion) {
  const token = randomToken()
  const own = JSON.stringify({ host: hostname(), pid: process.pid, token })
  const path = join(folder, `${name}.lock`)
  const waitPath = join(folder, `${name}.${token}${waitSuffix}`)
  const leaveQueue = () => rm(waitPath, { force: true })
  // Write this file first, so that a holder that releases the lock from now on detects the waiting process.
  await writeFile(waitPath, own, { mode: privateFile })
  try {
    await waitFor({ path, own, aside: join(folder, `${name}.${token}.broken`) }, clock, signal)
  } catch (error) {
    await leaveQueue()
    throw error
  }
  const beats = setInterval(() => void touch(path, clock), beatMs).unref()
  return {
    /** Call it after reading the data that the previous holder left for the queue. */
    leaveQueue,
    async release(): Promise<void> {
      clearInterval(beats)
      if ((await unlessCode('ENOENT', readFile(path, 'utf8'))) === own) await rm(path, { force: true })
    },
  }
}

interface LockFile {
  readonly path: string
  readonly own: string
  /** A lock is moved to this path if its holder has ended, or has been silent for 10 s. */
  readonly aside: string
}

async function waitFor(lock: LockFile, clock: Clock, signal: AbortSignal): Promise<void> {
  const startedMs = clock.monotonicMs()
  let [last, sinceMs] = ['', startedMs]
  while (!(await tryTake(lock))) {
    const nowMs = clock.monotonicMs()
    if (nowMs - startedMs > waitMaxMs)
      throw new PayerFault('FOLDER_UNUSABLE', 'another process has been paying for the same request for 15 minutes', {
        retryable: true,
      })
    const holder = await unlessCode('ENOENT', readFile(lock.path, 'utf8'))
    const status = await unlessCode('ENOENT', stat(lock.path))
    const seen = `${holder} ${status?.mtimeMs}`
    if (seen !== last) [last, sinceMs] = [seen, nowMs]
    if (holder !== undefined && (isGone(holder) || nowMs - sinceMs > silentMaxMs)) await breakLock(lock, holder)
    else await clock.sleep(pollMs, signal)
  }
}

async function tryTake({ path, own }: LockFile): Promise<boolean> {
  const written = writeFile(path, own, { flag: 'wx', mode: privateFile }).then(() => true)
  return (await unlessCode('EEXIST', written)) ?? false
}

/**
 * Moves the lock aside and removes it. Only one of several processes succeeds in the move. If another process has taken
 * the lock in the meantime, its file is put back.
 */
async function breakLock({ path, aside }: LockFile, holder: string): Promise<void> {
  const moved = await unlessCode(
    'ENOENT',
    rename(path, aside).then(() => true),
  )
  if (moved === undefined) return
  if ((await readFile(aside, 'utf8')) !== holder) await unlessCode('EEXIST', link(aside, path))
  await rm(aside)
}

/** True if a process of this machine has ended. False for another host, whose pid is meaningless here. */
export function isGone(holder: string): boolean {
  const [, host, pid] = /^{"host":"(.*)","pid":(\d+),/.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

/** Ignores errors, because another process may have broken the lock and removed the file. */
async function touch(path: string, clock: Clock): Promise<void> {
  const seconds = clock.nowMs() / 1000
  await utimes(path, seconds, seconds).catch(() => undefined)
}
