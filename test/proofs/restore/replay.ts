import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { runTollbook } from './tollbook.ts'

/** Results that the audit derives from the events alone. */
export type Replay = z.infer<typeof replayed>

const replayed = z.object({
  events: z.int(),
  payments: z.int(),
  treeSize: z.int(),
  root: z.string(),
  balances: z.array(z.object({ mint: z.string(), account: z.string(), baseUnits: z.string() })),
  burns: z.array(z.json()),
})

/** Number of events under the checkpoint that an instance keeps outside the database. */
export async function sizeOfCheckpoint(file: string): Promise<number> {
  return assertPresent(readCheckpoint(await readFile(file, 'utf8')), `${file} is a checkpoint`).size
}

export interface ReplayOptions {
  readonly databaseUrl: string
  /** Last position. */
  readonly upto: number
  readonly exportFile: string
}

/** Replays the ledger up to a position with the independent implementation, from an export. */
export async function replayLedger({ databaseUrl, upto, exportFile }: ReplayOptions): Promise<Replay> {
  const range = ['--to', String(upto), '--output', exportFile]
  await runTollbook(['export', 'jsonl', '--database', databaseUrl, ...range], {})
  const { output } = await runTollbook(['audit', '--json', exportFile], {})
  return replayed.parse(JSON.parse(output.slice(output.indexOf('\n{\n') + 1)))
}
