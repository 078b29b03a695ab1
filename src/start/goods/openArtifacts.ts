import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import { describeError } from '@tollbook/core/fault'
import { repeat, stopAll } from '../../jobs/repeat.ts'
import { type ArtifactStore, createArtifactStore } from '../../rendering/artifacts/artifactStore.ts'
import { openDiskStorage } from '../../rendering/artifacts/diskStorage.ts'
import type { Log } from '../../machine/log.ts'
import type { PartDeps } from '../partDeps.ts'

// Captures are sold with this lifetime (docs/rendering.md).
const ttlMs = 24 * 60 * 60 * 1000
const sweepEveryMs = 60_000
// Interval of attempts to store a file after a write has failed, for example on a full disk. Until one succeeds,
// captures are not sold.
const recoverEveryMs = 5_000

/**
 * Counts the artifacts in the background, because listing a large bucket takes long. If the storage cannot be read, the
 * sweep job counts them later.
 */
async function countAtStart(store: ArtifactStore, log: Log): Promise<void> {
  try {
    await store.sweep()
  } catch (error) {
    log.warn({ event: 'artifacts_not_counted', error: describeError(error) })
  }
}

export async function openArtifacts(
  config: DeliveryConfig['artifacts'],
  { clock, log }: Pick<PartDeps, 'clock' | 'log'>,
) {
  const { s3, directory = 'artifacts', totalBytesMax } = config
  const bucket = s3 && (await import('../../rendering/artifacts/s3Storage.ts')).openS3Storage(s3)
  const storage = bucket ?? (await openDiskStorage({ directory, nowMs: clock.nowMs }))
  const store = createArtifactStore({ clock, log, storage, ttlMs, totalBytesMax })
  const counting = countAtStart(store, log)
  const sweeping = repeat({ clock, log }, { name: 'artifacts', everyMs: sweepEveryMs, run: () => store.sweep() })
  const recovery = { name: 'artifact_recovery', everyMs: recoverEveryMs, run: () => store.recover() }
  const recovering = repeat({ clock, log }, recovery)
  return {
    ...store,
    async close() {
      await Promise.all([stopAll([sweeping, recovering]), counting])
      bucket?.close()
    },
  }
}
