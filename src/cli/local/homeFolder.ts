import { makeFolder } from '@tollbook/client/makeFolder'
import { Fault } from '@tollbook/core/fault'

/** Mode of the home. A Postgres under another user can then find its files in it. */
export const enterableFolder = 0o711

/** Creates the home or a folder in it. */
export async function openFolder(path: string, mode: number): Promise<void> {
  await makeFolder(path, mode).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new Fault(`${path} cannot be created${code}: set TOLLBOOK_HOME to a folder that can be written`, {
      cause: error,
      retryable: false,
    })
  })
}
