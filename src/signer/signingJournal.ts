import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Expense } from './lamportBudget.ts'

/** One signature of the fee payer. */
export interface Signing extends Expense {
  /** SHA-256 in hex of the message. */
  readonly digest: string
  readonly signature: string
}

/** Recent signatures of the fee payer, on disk: its budgets survive a restart, and one message is charged once. */
export interface SigningJournal {
  readonly entries: readonly Signing[]
  /** Resolves once the entry is durable. A signature leaves the process only after that. */
  append(entry: Signing): Promise<void>
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
export async function openSigningJournal(path: string, keepAfterMs: number): Promise<SigningJournal> {
  const entries = (await readEntries(path)).filter(({ atMs }) => atMs >= keepAfterMs)
  const compacted = await open(`${path}.tmp`, 'w', privateFile)
  await compacted.writeFile(entries.map(lineOf).join(''))
  await compacted.sync()
  await compacted.close()
  await rename(`${path}.tmp`, path)
  const file = await open(path, 'a', privateFile)
  let waiting: Signing[] = []
  let last = Promise.resolve()
  return {
    entries,
    append(entry) {
      waiting.push(entry)
      // Entries that come while others are written share the next write, so a burst costs few waits for the disk.
      const written = last.then(async () => {
        const batch = waiting
        waiting = []
        if (batch.length > 0) await write(file, batch)
      })
      // After a failed write every later one fails too: behind half a line nothing could be read back.
      last = written
      return written
    },
    async close() {
      await last.catch(() => undefined)
      await file.close()
    },
  }
}

async function write(file: FileHandle, entries: readonly Signing[]): Promise<void> {
  await file.appendFile(entries.map(lineOf).join(''))
  await file.datasync()
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
