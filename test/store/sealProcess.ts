import { systemClock } from '@tollbook/core/clock'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { type Ed25519PrivateJwk, ed25519Signer } from '@tollbook/core/ed25519'
import { startSealJob } from '../../src/jobs/sealJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { storeCheckpointFile } from '../../src/store/checkpointFile.ts'
import { createElection } from '../../src/store/election.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { sealNext } from '../../src/store/sealer.ts'

/** Step of the seal job after which its process is killed. */
export type SealStepName = 'signed' | 'sealed' | 'kept'

export interface SealOrder {
  readonly databaseUrl: string
  readonly checkpointFile: string
  readonly key: Ed25519PrivateJwk
  readonly diesAfter: SealStepName
  readonly leaseMs: number
}

const order: SealOrder = JSON.parse(process.argv[2] ?? '')
const signer = ed25519Signer(order.key)
const base = { clock: systemClock, log: silentLog }
const ledger = await openLedger({ ...base, databaseUrl: order.databaseUrl, applicationName: 'sealer' })
const { database } = ledger
const election = createElection({ ...base, database, holder: 'sealer', leaseMs: order.leaseMs })

function reach(step: SealStepName): void {
  if (step === order.diesAfter) process.kill(process.pid, 'SIGKILL')
}

await startSealJob({
  ...base,
  async sealNext() {
    const step = await sealNext({
      database,
      election,
      sign(tree) {
        const note = signCheckpoint({ origin: 'tollbook/test', ...tree }, signer)
        reach('signed')
        return note
      },
    })
    reach('sealed')
    return step
  },
  async keep(note) {
    await storeCheckpointFile(order.checkpointFile, note)
    reach('kept')
  },
  onSeal: () => undefined,
})
