import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './temporaryFolder.ts'

export interface TemporaryDirectory {
  readonly path: string
  readonly remove: () => Promise<void>
}

export const temporaryPrefix = 'tollbook-test-'

/** Other users may pass through it but not list it, so that the Postgres that root runs as `nobody` can reach its data. */
export async function makeTemporaryDirectory(folder = temporaryFolder()): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(folder, temporaryPrefix))
  await chmod(path, 0o711)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
