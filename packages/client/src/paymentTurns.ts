import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@tollbook/core/clock'
import { PayerFault } from './errorCode.ts'
import { unlessCode } from './fileError.ts'
import { type FolderLock, isGone, takeFolderLock, waitSuffix } from './folderLock.ts'
import { makeFolder } from './makeFolder.ts'
import type { PaymentTurn } from './paymentStore.ts'
import { readPendingPayment } from './pendingPayment.ts'

/*
 * Turns of the processes that share a payment folder, for one order at a time. If a payment is answered while other
 * processes wait, its file is left for the waiting processes, which present the same payment. If the file is lost, a
 * waiting process pays again.
 */

const answeredSuffix = '.answered'

export function createPaymentTurns(folder: string, clock: Clock) {
  const held = new Set<string>()
  const readLeft = async (order: string, before: readonly string[], lock: FolderLock) => {
    try {
      const left = (await filesOf(folder, order, answeredSuffix)).filter((path) => !before.includes(path))
      return (await Promise.all(left.map(readText))).flatMap((text) => readPendingPayment(text ?? '') ?? [])
    } finally {
      await lock.leaveQueue()
    }
  }
  return {
    async take(order: string, signal: AbortSignal): Promise<PaymentTurn> {
      await makeFolder(folder).catch((cause: unknown) => {
        throw new PayerFault('FOLDER_UNUSABLE', `${folder} cannot be used as a folder`, { cause, retryable: false })
      })
      const before = await filesOf(folder, order, answeredSuffix)
      const lock = await takeFolderLock({ folder, name: order, clock, signal })
      held.add(order)
      return {
        answered: await readLeft(order, before, lock).catch(async (error: unknown) => {
          held.delete(order)
          await lock.release()
          throw error
        }),
        async end() {
          held.delete(order)
          await lock.release()
          // Check the queue after the release: a process that starts to wait now reads only newer files.
          if (await hasQueue(folder, order)) return
          const done = await filesOf(folder, order, answeredSuffix)
          await Promise.all(done.map((path) => rm(path, { force: true })))
        },
      }
    },
    /**
     * Moves the file of an answered payment to where waiting processes look for it. False if this process has no turn
     * for the order.
     */
    async leave(order: string, { path, signature }: { readonly path: string; readonly signature: string }) {
      if (!held.has(order)) return false
      // Ignore a missing file, because another process has already moved it.
      await unlessCode('ENOENT', rename(path, join(folder, `${order}.${signature}${answeredSuffix}`)))
      return true
    },
  }
}

async function hasQueue(folder: string, order: string): Promise<boolean> {
  const waiting = await Promise.all((await filesOf(folder, order, waitSuffix)).map(readText))
  return waiting.some((process) => process !== undefined && !isGone(process))
}

async function filesOf(folder: string, order: string, suffix: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${order}.`) && name.endsWith(suffix))
  return names.map((name) => join(folder, name))
}

async function readText(path: string): Promise<string | undefined> {
  return unlessCode('ENOENT', readFile(path, 'utf8'))
}
