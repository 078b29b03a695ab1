import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { describeError, Fault } from '@tollbook/core/fault'
import type { Output } from './output.ts'

/**
 * Opens a file for output. It is renamed only when it is complete, so an interrupted export is never taken for a
 * complete one, and an existing file remains until then. A device or a named pipe is written directly.
 */
export async function openOutputFile(path: string): Promise<Output> {
  return reported(path, async () => {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() === true) throw new Error('it is a directory')
    if (found?.isFile() === false) return openDevice(path)
    // Replace the target of a symbolic link, because a rename would otherwise replace the link.
    return openFile(path, found === undefined ? path : await realpath(path))
  })
}

// Mode of the file. Other users of the machine must not see the data of buyers.
const privateFile = 0o600

async function openFile(path: string, target: string): Promise<Output> {
  // Include the process id, so that two exports to one name do not write to the same temporary file.
  const partial = `${target}.${process.pid}.partial`
  const file = await open(partial, 'w', privateFile)
  const abandon = async (): Promise<void> => {
    await file.close()
    await rm(partial, { force: true })
  }
  return {
    write: (chunk) => reported(path, () => file.writeFile(chunk)),
    finish: () =>
      reported(path, async () => {
        await file.sync()
        await file.close()
        await rename(partial, target)
      }),
    abandon,
  }
}

async function openDevice(path: string): Promise<Output> {
  const file = await open(path, 'w')
  return {
    write: (chunk) => reported(path, () => file.writeFile(chunk)),
    finish: () => reported(path, () => file.close()),
    abandon: () => file.close(),
  }
}

async function reported<T>(path: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw new Fault(`${path} cannot be written: ${describeError(error)}`, { cause: error, retryable: false })
  }
}
