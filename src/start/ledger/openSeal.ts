import type { SealConfig } from '../../config/sealConfig.ts'
import { createLedgerRoutes } from '../../routes/ledgerRoutes.ts'
import { startSealJob } from '../../jobs/sealJob.ts'
import { storeCheckpointFile } from '../../store/checkpointFile.ts'
import { writeLossNote } from '../../store/lossNote.ts'
import { signOnce } from '../../store/signOnce.ts'
import type { SealPort } from './ledgerPorts.ts'
import type { ReceiptKeys } from './openReceiptKeys.ts'
import type { PartDeps } from '../partDeps.ts'

export interface SealDeps extends PartDeps {
  readonly ledger: SealPort
  readonly keys: Pick<ReceiptKeys, 'signCheckpoint' | 'verifierKeys'>
}

/**
 * Opens the seal. It is opened before any part appends events, because a restored backup that is too old must stay
 * unchanged.
 */
export async function openSeal(config: SealConfig, deps: SealDeps) {
  const { checkpointFile, entriesArePublic } = config
  const { clock, log, metrics, ledger, keys } = deps
  if (checkpointFile !== undefined) await ledger.requireCheckpoint(checkpointFile)
  // Two signed roots of one size could prove two histories, so a process signs only one.
  const sign = signOnce(keys.signCheckpoint)
  const sealing = await startSealJob({
    clock,
    log,
    sealNext: (onUnsealed) => ledger.sealNext(sign, onUnsealed),
    noteLoss: createLossNote(ledger, checkpointFile),
    keep: checkpointFile === undefined ? undefined : (note) => storeCheckpointFile(checkpointFile, note),
    onSeal: metrics.onSeal,
  })
  return {
    check: { name: 'seal', problem: sealing.problem },
    routes: createLedgerRoutes({ clock, log, tree: ledger.tree, verifierKeys: keys.verifierKeys, entriesArePublic }),
    close: sealing.stop,
  }
}

/**
 * Creates a function that records a loss of events once. After a restart, the record prevents an instance from opening
 * a database that lacks events which the instance has seen.
 */
function createLossNote({ history }: SealPort, checkpointFile: string | undefined): () => Promise<boolean> {
  let isNoted = false
  return async () => {
    const lost = history.lost()
    if (lost === undefined) return false
    if (!isNoted && checkpointFile !== undefined && lost.seen !== undefined)
      await writeLossNote(checkpointFile, lost.seen)
    isNoted = true
    return true
  }
}
