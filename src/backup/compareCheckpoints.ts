import type { Log } from '../machine/log.ts'
import { compareWithCheckpoint, type CheckpointFile } from '../store/checkpointFile.ts'
import { openDatabase } from '../store/database.ts'
import type { DrillFindings } from './drillVerdict.ts'

export interface CompareDeps {
  readonly log: Log
  readonly onStep: (text: string) => void
}

// Maximum milliseconds of one statement. The root hash needs all events that no tile covers yet, which takes long.
const statementTimeoutMs = 15 * 60_000

/**
 * Compares each checkpoint with the ledger. `contained` omits checkpoints that the ledger does not reach, because the
 * audit would only report the same difference again.
 */
export async function compareCheckpoints(
  databaseUrl: string,
  checkpoints: readonly CheckpointFile[],
  { log, onStep }: CompareDeps,
): Promise<{ comparisons: DrillFindings['comparisons']; contained: readonly CheckpointFile[] }> {
  const naming = { databaseUrl, applicationName: 'tollbook drill' }
  const database = openDatabase({ ...naming, connectionsMax: 1, statementTimeoutMs, log })
  try {
    const comparisons: DrillFindings['comparisons'][number][] = []
    const contained: CheckpointFile[] = []
    for (const checkpoint of checkpoints) {
      const comparison = await compareWithCheckpoint(database, checkpoint)
      comparisons.push(comparison)
      if (comparison.relation !== 'older') contained.push(checkpoint)
      onStep(comparison.finding)
    }
    return { comparisons, contained }
  } finally {
    await database.destroy()
  }
}
