import type { Config, ReceiptSigningKey } from './config.ts'
import { createLedgerRoutes } from './http/ledgerRoutes.ts'
import type { FreeRoute, HealthCheck } from './http/freeRoutes.ts'
import { type SealJobDeps, startSealJob } from './jobs/sealJob.ts'
import { signCheckpoint, verifierKeyText } from '@tollbook/core/checkpoint'
import type { Clock } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import type { Log } from './primitives/log.ts'
import { readSealedTree } from './reports/sealedTree.ts'
import { keepCheckpoint, requireKeptCheckpoint } from './store/checkpointFile.ts'
import type { Database } from './store/database.ts'
import { sealNext } from './store/sealer.ts'

type SealConfig = Pick<Config, 'ledgerOrigin' | 'checkpointFile' | 'entriesArePublic'> & {
  readonly chain: { readonly paymentWallet: string }
  readonly receiptSigningKey: ReceiptSigningKey
}

interface SealDeps {
  readonly clock: Clock
  readonly log: Log
  readonly database: Database
  readonly onSeal: SealJobDeps['onSeal']
}

export interface Seal {
  readonly check: HealthCheck
  readonly routes: readonly FreeRoute[]
  stop(): Promise<void>
}

/** The seal of the ledger. Before anything is appended, because on an older backup nothing may be. */
export async function openSeal(config: SealConfig, { clock, log, database, onSeal }: SealDeps): Promise<Seal> {
  const { checkpointFile, entriesArePublic } = config
  const origin = config.ledgerOrigin ?? `tollbook/${config.chain.paymentWallet}`
  const signer = ed25519Signer(config.receiptSigningKey)
  if (checkpointFile !== undefined) await requireKeptCheckpoint(database, checkpointFile)
  const watch = await startSealJob({
    clock,
    log,
    sealNext: () => sealNext({ database, sign: (tree) => signCheckpoint({ origin, ...tree }, signer) }),
    keep: checkpointFile === undefined ? undefined : (note) => keepCheckpoint(checkpointFile, note),
    onSeal,
  })
  const verifierKey = verifierKeyText({ name: origin, publicKey: signer.publicKey })
  return {
    check: { name: 'seal', problem: watch.problem },
    routes: createLedgerRoutes({ log, tree: readSealedTree(database), verifierKey, entriesArePublic }),
    stop: watch.stop,
  }
}
