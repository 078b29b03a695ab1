import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../makeFolder.ts'
import { writeFileAtomically } from '../paymentFolder.ts'
import type { PendingPayment } from '../pendingPayment.ts'

export type SavedPayments = ReturnType<typeof openSavedPayments>

/** Keeps payments in files that only the user can read, because anyone who reads a proof could use it. */
export function openSavedPayments(folder: string) {
  const pathOf = ({ signature }: PendingPayment) => join(folder, `${signature}.json`)
  const stored = new Set<string>()
  return {
    pathOf,
    async keep(payment: PendingPayment): Promise<void> {
      await makeFolder(folder)
      const path = pathOf(payment)
      await writeFileAtomically(path, `${JSON.stringify(payment, null, 2)}\n`)
      stored.add(path)
    },
    /** Deletes the files of this run. Call it when the answer has arrived, or if the payment was refused or not sent. */
    async forget(): Promise<void> {
      await Promise.all([...stored].map((path) => rm(path, { force: true })))
      stored.clear()
    },
  }
}
