import { Fault } from '@tollbook/core/fault'
import type { Log } from '@tollbook/localnet/log'
import { clusterMark } from './postmaster.ts'
import { readPostmasterFile, removePostmasterFile } from './postmasterFile.ts'
import { type LiveProcess, findProcess } from '@tollbook/localnet/processTable'
import { shutDown } from './shutDown.ts'
import { systemErrorCode } from './systemErrorCode.ts'

/**
 * Clears the way for a new postmaster. The caller holds the claim on the directory, so if a postmaster of ours runs in
 * it, its supervisor is dead and so, by bad luck, is its watchdog: it is an orphan, and it is shut down. It is not
 * adopted, because the system tells only a parent at once when a process ends.
 */
export async function settleEarlierPostmaster(dataDirectory: string, log: Log): Promise<void> {
  const file = await readPostmasterFile(dataDirectory)
  if (file === undefined) return
  const found = await findProcess(file.pid)
  if (found === undefined || !runsIn(found, dataDirectory)) {
    // The file would stop Postgres if the pid belongs to a zombie or to a new process. Removing
    // it does not lift the guard that counts: surviving backends hold a shared memory segment
    // whose key is the directory's inode, and a new postmaster does not start while they exist.
    await removePostmasterFile(dataDirectory)
    return
  }
  if (!isOurs(found, dataDirectory)) {
    throw new Fault(
      `a Postgres that Tollbook did not start (process ${found.pid}) runs in ${dataDirectory}: stop it first`,
      { retryable: false },
    )
  }
  log.warn({ event: 'embedded_postgres_orphan_found', postmasterPid: found.pid, dataDirectory })
  await stopOrphan(found, log)
}

function runsIn(found: LiveProcess, dataDirectory: string): boolean {
  // Postgres changes into its data directory. If the working directory
  // is not readable, the command line is compared instead.
  if (found.workingDirectory !== undefined) return found.workingDirectory === dataDirectory
  return found.commandLine.includes(` ${dataDirectory} `)
}

function isOurs(found: LiveProcess, dataDirectory: string): boolean {
  return found.commandLine.includes(` -D ${dataDirectory} `) && found.commandLine.includes(clusterMark)
}

async function stopOrphan(orphan: LiveProcess, log: Log): Promise<void> {
  await shutDown({
    pid: orphan.pid,
    send: (signal) => sendUnlessGone(orphan.pid, signal),
    hasEnded: async () => (await findProcess(orphan.pid))?.startMark !== orphan.startMark,
    log,
  })
}

function sendUnlessGone(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return
    throw new Fault(`cannot stop the orphaned Postgres (process ${pid})`, { cause: error, retryable: false })
  }
}
