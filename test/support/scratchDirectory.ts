import { afterFile } from './afterFile.ts'
import { makeTemporaryDirectory } from './temporaryDirectory.ts'

/** A directory of the test file's own, gone after it. */
export async function makeScratchDirectory(): Promise<string> {
  const directory = await makeTemporaryDirectory()
  afterFile(directory.remove)
  return directory.path
}
