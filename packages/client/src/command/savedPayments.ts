import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../makeFolder.ts'
import { writeFileAtomically } from '../paymentFolder.ts'
import type { PendingPayment } from '../pendingPayment.ts'

/** Payments between signature and answer, one file each, so that a killed process loses none. */
export interface SavedPayments {
  keep(payment: PendingPayment): Promise<void>
  /** Deletes the files of this run: the answer has arrived, or the payment never left. */
  forget(): Promise<void>
  pathOf(payment: PendingPayment): string
}

// A proof is worth its price until it is used.
const privateFolder = 0o700

/** Payments as private files, mode 0600: a proof is worth its price until it is used. */
export function openSavedPayments(folder: string): SavedPayments {
  const pathOf = ({ signature }: PendingPayment) => join(folder, `${signature}.json`)
  const stored = new Set<string>()
  return {
    pathOf,
    async keep(payment) {
      await makeFolder(folder, privateFolder)
      const path = pathOf(payment)
      await writeFileAtomically(path, `${JSON.stringify(payment, null, 2)}\n`)
      stored.add(path)
    },
    async forget() {
      await Promise.all([...stored].map((path) => rm(path, { force: true })))
      stored.clear()
    },
  }
}
