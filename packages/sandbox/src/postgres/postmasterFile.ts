import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Content of `postmaster.pid`, one fact per line (miscadmin.h, LOCK_FILE_LINE_*). */
export interface PostmasterFile {
  readonly pid: number
  /** `starting`, `ready`, `stopping`, or empty when the line is not written yet. */
  readonly status: string
}

/** The file of a postmaster, which may have ended. Undefined without a file that can be read. */
export async function readPostmasterFile(dataDirectory: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(pathOf(dataDirectory), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  // A standalone backend (initdb) writes its pid as a negative number.
  const pid = Math.abs(Number(lines[0]))
  return Number.isSafeInteger(pid) && pid > 0 ? { pid, status: (lines[statusLine] ?? '').trim() } : undefined
}

export async function removePostmasterFile(dataDirectory: string): Promise<void> {
  await rm(pathOf(dataDirectory), { force: true })
}

function pathOf(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid')
}

const statusLine = 7
