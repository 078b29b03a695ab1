import { Fault } from '@tollbook/core/fault'
import { readCheckpointFile, type CheckpointFile } from '../store/checkpointFile.ts'
import { readRestoredLogins, type RestoredLogins } from '../store/restoredCluster.ts'
import { type CompareDeps, compareCheckpoints } from './compareCheckpoints.ts'
import type { DrillFindings } from './drillVerdict.ts'
import { type ScratchCluster, type ScratchOptions, startScratchCluster } from './scratchCluster.ts'
import { verifyRepository } from './pgBackRest.ts'

export interface DrillDeps extends CompareDeps {
  /** Returns the names of the checks that failed. */
  readonly examine: (logins: { serviceUrl: string; ownerUrl: string }) => Promise<readonly string[]>
  /** Audits the ledger. Returns the exit code of the audit. */
  readonly audit: (url: string, checkpoints: readonly CheckpointFile[]) => Promise<number>
}

export interface DrillOptions extends ScratchOptions {
  readonly database: string
  readonly checkpointFiles: readonly string[]
}

/** Restores a backup into a temporary cluster, examines the cluster and removes it. The original server is not used. */
export async function drill(options: DrillOptions, deps: DrillDeps): Promise<DrillFindings> {
  if (process.getuid?.() === 0)
    throw new Fault('Postgres does not run as root: run the drill as the account of Postgres (sudo -u postgres)', {
      retryable: false,
    })
  // Read the checkpoints before the archive is replayed, so that the replay includes every event that they cover.
  const checkpoints = await readCheckpoints(options.checkpointFiles, deps)
  await verifyRepository(options.repository)
  deps.onStep('every file of the repository has its checksum')
  await using cluster = await startScratchCluster(options)
  deps.onStep('restored, and the archive replayed')
  const url = cluster.urlOf(options.superuser, options.database)
  const { comparisons, contained } = await compareCheckpoints(url, checkpoints, deps)
  const failedChecks = await examine(await readRestoredLogins(url), { ...options, urlOf: cluster.urlOf, deps })
  const auditExitCode = await deps.audit(url, contained)
  return { failedChecks, auditExitCode, comparisons, hasTarget: options.targetMs !== undefined }
}

async function readCheckpoints(
  files: readonly string[],
  { onStep }: Pick<DrillDeps, 'onStep'>,
): Promise<readonly CheckpointFile[]> {
  const read: CheckpointFile[] = []
  for (const file of files) {
    const checkpoint = await readCheckpointFile(file)
    if (checkpoint === undefined) onStep(`${file} does not exist yet`)
    else read.push(checkpoint)
  }
  return read
}

function examine(
  { service, owner }: RestoredLogins,
  { database, urlOf, deps }: Pick<DrillOptions, 'database'> & { deps: DrillDeps; urlOf: ScratchCluster['urlOf'] },
): Promise<readonly string[]> {
  if (owner === null) return Promise.resolve([`the database ${database} has no ledger (--database)`])
  if (service === null) return Promise.resolve(['the cluster has no login of tollbook_service'])
  return deps.examine({ serviceUrl: urlOf(service, database), ownerUrl: urlOf(owner, database) })
}
