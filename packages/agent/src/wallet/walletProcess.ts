import { chmod, rm } from 'node:fs/promises'
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
  /** Pid of the process that serves the folder. */
  readonly pid: number
  /** Undefined if another process serves it. */
  readonly server: Server | undefined
  close(): Promise<void>
}

export interface WalletProcessOptions {
  readonly folder: WalletFolder
  readonly report: (line: string) => void
  readonly clock?: Clock
}

// A process that is starting holds the lock and does not answer yet.
const lockWaitMs = 1_000
const attemptsMax = 20
const privateSocket = 0o600

/** Serves a wallet folder, unless another process serves it. Throws `PolicyProblem` with all mistakes of its policy. */
export async function startWallet(options: WalletProcessOptions): Promise<WalletProcess> {
  const { folder, clock = systemClock } = options
  await openWalletFolder(folder)
  await readPolicyFile(folder.policy)
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const running = await askWallet(folder.socket)
    if (running !== undefined) return { ...running, server: undefined, close: () => Promise.resolve() }
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
  // Only the holder of the lock removes the socket of a process that was killed.
  await rm(folder.socket, { force: true })
  server.listen(folder.socket)
  await once(server, 'listening')
  await chmod(folder.socket, privateSocket)
  return {
    pid: process.pid,
    server,
    async close() {
      server.close()
      server.closeAllConnections()
      await lock.release()
    },
  }
}
