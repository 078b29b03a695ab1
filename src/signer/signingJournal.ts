import { type FileHandle, open, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { type OpenFile, renameDurably } from '../machine/renameDurably.ts'
import type { Expense } from './lamportBudget.ts'

/** One signature of the fee payer. */
export interface Signing extends Expense {
  /** SHA-256 in hex of the message. */
  readonly digest: string
  readonly signature: string
}

/** Recent signatures of the fee payer, on disk: its budgets survive a restart, and one message is charged once. */
export interface SigningJournal {
  /** Those that it had when it was opened. */
  readonly entries: readonly Signing[]
  /** Resolves once the entry is durable. A signature leaves the process only after that. */
  append(entry: Signing): Promise<void>
  /** False from a failed write until the file was replaced. A call while it is false starts an attempt to replace it. */
  isWritable(): boolean
  /** Resolves when no write is pending. */
  settled(): Promise<void>
  close(): Promise<void>
}

const entryJson = z.object({
  atMs: z.int(),
  wallet: z.string(),
  lamports: z.int().min(1),
  digest: z.string(),
  signature: z.string(),
})

const privateFile = 0o600

/** Opens the journal and drops entries that are older than the given time. */
export async function openSigningJournal(
  path: string,
  keepAfterMs: number,
  openFile: OpenFile = open,
): Promise<SigningJournal> {
  const entries = (await readEntries(path)).filter(({ atMs }) => atMs >= keepAfterMs)
  const durable = [...entries]
  // Undefined after a failed write: the file may have half an entry then, so it is replaced before the next one.
  let file: FileHandle | undefined = await rewrite(path, durable, openFile)
  let next: Batch | undefined
  let last = Promise.resolve()
  let attempt: Promise<void> | undefined

  function inTurn(write: () => Promise<void>): Promise<void> {
    const done = last.then(write)
    last = done.catch(() => undefined)
    return done
  }
  async function reopen(): Promise<FileHandle> {
    file ??= await rewrite(path, durable, openFile)
    return file
  }
  async function writeBatch(batch: readonly Signing[]): Promise<void> {
    const opened = await reopen()
    try {
      await opened.appendFile(batch.map(lineOf).join(''))
      await opened.datasync()
    } catch (error) {
      file = undefined
      await opened.close()
      throw error
    }
    durable.push(...batch)
  }
  return {
    entries,
    append(entry) {
      // Entries that come while others are written share the next write, so a burst costs few waits for the disk.
      if (next === undefined) {
        const batch: Signing[] = []
        const written = inTurn(async () => {
          next = undefined
          await writeBatch(batch)
        })
        next = { batch, written }
      }
      next.batch.push(entry)
      return next.written
    },
    isWritable() {
      if (file !== undefined) return true
      attempt ??= inTurn(async () => void (await reopen()))
        .catch(() => undefined)
        .finally(() => (attempt = undefined))
      return false
    },
    settled: () => last,
    async close() {
      await last
      await file?.close()
    },
  }
}

interface Batch {
  readonly batch: Signing[]
  readonly written: Promise<void>
}

/** Replaces the journal by one with these entries, and opens it for more. */
async function rewrite(path: string, entries: readonly Signing[], openFile: OpenFile): Promise<FileHandle> {
  const replacement = `${path}.tmp`
  const file = await openFile(replacement, 'w', privateFile)
  try {
    await file.appendFile(entries.map(lineOf).join(''))
    await file.datasync()
    await renameDurably(replacement, path, openFile)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

const lineOf = (entry: Signing): string => `${JSON.stringify(entry)}\n`

async function readEntries(path: string): Promise<readonly Signing[]> {
  const lines = (await readIfThere(path)).split('\n')
  // Text after the last newline was cut off by a crash, so its signature never left the process.
  return lines.slice(0, -1).map((line, index) => {
    const entry = entryJson.safeParse(parseLine(line))
    if (entry.success) return entry.data
    throw new Fault(
      `${path} is damaged in line ${index + 1}; move it away and lower today's budget by what was spent`,
      {
        retryable: false,
      },
    )
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The schema refuses undefined.
    return undefined
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
