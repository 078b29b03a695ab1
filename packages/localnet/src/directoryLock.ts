import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Fault } from '@tollbook/core/fault'

export interface DirectoryLock {
  release(): void
}

/**
 * Locks a data directory for one process, by a write lock on a SQLite file in the same parent directory. The operating
 * system releases the lock when the process ends, even by `kill -9`.
 */
export function lockDirectory(dataDirectory: string): DirectoryLock {
  const lock = openLock(`${dataDirectory}.lock`)
  try {
    // Store the process id in the file. Other processes can read it while the second transaction holds the lock.
    lock.exec(`begin immediate; pragma user_version = ${process.pid}; commit; begin immediate`)
  } catch (cause) {
    const holder = lock.prepare('pragma user_version').get()?.['user_version']
    lock.close()
    throw new Fault(
      `the data directory ${dataDirectory} is in use by process ${String(holder)}: stop that one first, or use another directory (--state, or TOLLBOOK_HOME in local mode)`,
      { cause, retryable: false },
    )
  }
  return { release: () => lock.close() }
}

/** Time to wait for a process that stores its id or reads the id of the holder at the same moment. */
const waitMs = 200

/**
 * Opens the lock file with SQLite only. If this process closed another descriptor of the file, the operating system
 * would release all its locks on the file.
 */
function openLock(path: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(path, { timeout: waitMs })
    chmodSync(path, 0o600)
    lock.exec('pragma user_version')
    return lock
  } catch (cause) {
    throw new Fault(`cannot open ${path}: run as the user who owns it, or remove it if it is damaged`, {
      cause,
      retryable: false,
    })
  }
}
