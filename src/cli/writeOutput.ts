import { writeFile } from 'node:fs/promises'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

/** Writes the file of `--output`. With `isSecret` only this user can read it, and an existing file is refused. */
export async function writeOutput(path: string, text: string, isSecret = false): Promise<void> {
  // Refuse an existing file, because a private key that is replaced is lost.
  await writeFile(path, text, isSecret ? { mode: 0o600, flag: 'wx' } : {}).catch((cause: unknown) => {
    throw new UsageProblem('--output', `${path} cannot be written`, { cause })
  })
}
