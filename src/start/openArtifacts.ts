import type { ArtifactSettings } from '../config/deliverySettings.ts'
import { repeat } from '../jobs/repeat.ts'
import { type ArtifactStore, createArtifactStore } from '../outbound/artifacts/artifactStore.ts'
import { openDiskStorage } from '../outbound/artifacts/diskStorage.ts'
import { openS3Storage } from '../outbound/artifacts/s3Storage.ts'
import type { PartDeps } from './partDeps.ts'

export interface OpenArtifacts extends ArtifactStore {
  close(): Promise<void>
}

const sweepEveryMs = 60_000

/** The storage of screenshots and PDFs, with a job that removes expired ones. */
export async function openArtifacts(settings: ArtifactSettings, { clock, log }: PartDeps): Promise<OpenArtifacts> {
  const { s3, directory = 'artifacts', ttlMs } = settings
  const bucket = s3 === undefined ? undefined : openS3Storage(s3)
  const storage = bucket ?? (await openDiskStorage({ directory, nowMs: clock.nowMs }))
  const store = createArtifactStore({ clock, log, storage, ttlMs })
  const sweeping = repeat({ clock, log }, { name: 'artifacts', everyMs: sweepEveryMs, run: () => store.sweep() })
  return {
    ...store,
    async close() {
      await sweeping.stop()
      bucket?.close()
    },
  }
}
