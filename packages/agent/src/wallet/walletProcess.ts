import { chmod, lstat, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { once } from 'node:events'
import { takeFolderLock, type FolderLock } from '@tollbook/client/folder'
import { openPaymentFolder, readKeypairFile } from '@tollbook/client/node'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { readPolicyFile } from '../policy/policyFile.ts'
import { askWallet } from '../client/socketRequest.ts'
import { keepUntilReceived } from './answeredPayments.ts'
import { createPurchases } from './purchases.ts'
import { openWalletFolder, type WalletFolder } from '../walletFolder.ts'
import { readOrMakeKey } from '../walletKey.ts'
import { createWalletServer } from './walletRoutes.ts'

export interface WalletProcess {
  readonly pid: number
  /** Undefined: another process serves the folder. */
  readonly server: Server | undefined
  /** Resolves when another process has taken over the folder, for example after this process was suspended for a while. */
  readonly replaced: Promise<void>
  close(): Promise<void>
}

export interface WalletProcessOptions {
  readonly folder: WalletFolder
  readonly report: (line: string) => void
  readonly clock?: Clock
}

// Time to wait for the lock in each attempt. After the first, short wait, a process that started at the same time
// serves the socket. The other waits exceed the 10 s after which a silent lock is broken, in case another process has
// the dead holder's process ID.
const lockWaitsMs = [500, 15_000, 15_000, 15_000]
const privateSocket = 0o600

/**
 * Serves the folder. If another process already serves the folder, returns that process, without a `server`. Throws a
 * `PolicyProblem` that lists all mistakes in the policy.
 */
export async function startWallet(options: WalletProcessOptions): Promise<WalletProcess> {
  const { folder, clock = systemClock } = options
  await openWalletFolder(folder)
  await readPolicyFile(folder.policy)
  for (const lockWaitMs of lockWaitsMs) {
    const running = await askWallet(folder.socket)
    if (running !== undefined)
      return { ...running, server: undefined, replaced: Promise.resolve(), close: () => Promise.resolve() }
    const signal = AbortSignal.timeout(lockWaitMs)
    const lock = await takeFolderLock({ folder: folder.path, name: 'wallet', clock, signal }).catch(
      (error: unknown) => {
        if (!signal.aborted) throw error
      },
    )
    if (lock !== undefined) return listen(options, lock)
  }
  throw new Error(`${folder.path} is locked by a process that does not answer; end it, or wait until it has ended`)
}

async function listen(
  { folder, report, clock = systemClock }: WalletProcessOptions,
  lock: FolderLock,
): Promise<WalletProcess> {
  // All data of the previous holder is in the files of the folder, so nothing has to be read from its queue.
  await lock.leaveQueue()
  await readOrMakeKey(folder)
  const wallet = await readKeypairFile(folder.key)
  const answered = keepUntilReceived(openPaymentFolder(folder.payments))
  const readPolicy = () => readPolicyFile(folder.policy)
  const server = createWalletServer({
    address: wallet.address,
    receiptsPath: folder.receipts,
    answered,
    purchases: createPurchases({ wallet, answered, readPolicy }),
    readPolicy,
    clock,
    report: (error) => report(describeError(error)),
  })
  // Remove the socket that a killed process left.
  await rm(folder.socket, { force: true })
  server.listen(folder.socket)
  await once(server, 'listening')
  await chmod(folder.socket, privateSocket)
  const watch = watchSocket(folder.socket, (await lstat(folder.socket)).ino)
  return {
    pid: process.pid,
    server,
    replaced: watch.replaced,
    async close() {
      watch.stop()
      // Do not close the server if the socket was replaced: closing would remove the socket of the other process.
      if (watch.isReplaced()) server.unref()
      else server.close()
      server.closeAllConnections()
      await lock.release()
    },
  }
}

const watchMs = 5_000

/** Checks every 5 seconds, because a process that broke the lock replaces the socket file. */
function watchSocket(path: string, inode: number) {
  let isReplaced = false
  let timer: NodeJS.Timeout | undefined
  const replaced = new Promise<void>((resolve) => {
    const look = async () => {
      const status = await lstat(path).catch(() => undefined)
      if (status?.ino === inode) return
      isReplaced = true
      resolve()
    }
    timer = setInterval(() => void look(), watchMs).unref()
  })
  return { replaced, isReplaced: () => isReplaced, stop: () => clearInterval(timer) }
}
