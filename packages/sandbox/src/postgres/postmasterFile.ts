import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Content of `postmaster.pid`, one fact per line (miscadmin.h, LOCK_FILE_LINE_*). */
export interface PostmasterFile {
  readonly pid: number
  /** `starting`, `ready`, `stopping`, or empty when the line is not written yet. */
  readonly status: string
}

/** Undefined when no postmaster holds the directory, or when its file is damaged. */
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
