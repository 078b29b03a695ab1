import type { TestProject } from 'vitest/node'
import { openDatabaseBroker } from './databaseBroker.ts'
import type { Close } from './runDatabase.ts'
import { makeTemporaryDirectory } from './temporaryDirectory.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly databaseBroker: string
  }
}

/** Vitest calls it once, before the first test file; what it returns is called after the last. */
export default async function openGlobalDatabase(project: TestProject): Promise<Close> {
  const directory = await makeTemporaryDirectory()
  const toClose: Close[] = [directory.remove]
  const broker = await openDatabaseBroker(directory.path, async () => {
    // Loaded late: a run of unit tests alone then loads no database driver, and does not mind a broken migration.
    const { prepareRunDatabase } = await import('./runDatabase.ts')
    return prepareRunDatabase(toClose)
  })
  project.provide('databaseBroker', broker.socketPath)
  return async () => {
    await broker.close()
    for (const close of toClose.toReversed()) await close()
  }
}
