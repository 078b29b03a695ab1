import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import type { TreeHead } from '@tollbook/core/merkle'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { readCheckpointFile, requireStoredCheckpoint } from '../../src/store/checkpointFile.ts'
import { rootAt, sealNext } from '../../src/store/sealer.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { mustAppend, openInstance, openSessions } from './instance.ts'
import { claimOf, sampleSettlement } from './samplePayment.ts'
import type { SealOrder, SealStepName } from './sealProcess.ts'

const program = fileURLToPath(new URL('sealProcess.ts', import.meta.url))
const key = makeReceiptKey()
const signer = ed25519Signer(key)
const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const { database } = ledger
const admin = openSessions(adminUrl)
const checkpointFile = join(await makeScratchDirectory(), 'checkpoint')

/** Seals in a separate process, which is killed after that step and does not end its lease. */
async function sealAndDie(diesAfter: SealStepName): Promise<void> {
  const order: SealOrder = { databaseUrl: serviceUrl, checkpointFile, key, diesAfter, leaseMs: 300 }
  const [, signal] = await once(fork(program, [JSON.stringify(order)], { execArgv: [] }), 'exit')
  expect(signal, diesAfter).toBe('SIGKILL')
}

interface Sealed {
  readonly size: number
  readonly root: Buffer
}

async function checkpoints(): Promise<readonly Sealed[]> {
  const { rows } = await admin.query<Sealed>('select size::int, root from ledger.checkpoints order by size')
  return rows
}

const deaths: readonly (readonly [step: SealStepName, sealedEvents: number])[] = [
  ['signed', 0],
  ['sealed', 3],
  ['kept', 3],
]

test.each(deaths)(
  'a seal job that is killed when a checkpoint is %s leaves no gap, and the next one continues',
  async (step, sealedEvents) => {
    const before = (await checkpoints()).at(-1)?.size ?? 0
    const fileBefore = (await readCheckpointFile(checkpointFile))?.size
    await mustAppend(ledger, claimOf(sampleSettlement()).change)
    await sealAndDie(step)
    expect((await checkpoints()).at(-1)?.size ?? 0).toBe(before + sealedEvents)
    const file = await readCheckpointFile(checkpointFile)
    expect(file?.size, 'the file never names more than is sealed').toBe(step === 'kept' ? before + 3 : fileBefore)
    await requireStoredCheckpoint(database, checkpointFile)

    await mustAppend(ledger, claimOf(sampleSettlement()).change)
    const sign = (tree: TreeHead) => signCheckpoint({ origin: 'tollbook/test', ...tree }, signer)
    await awaitThat('the lease of the killed process ends', async () => {
      const { head, checkpoint } = await sealNext({ ...ledger, sign })
      return checkpoint?.size === head
    })
    const all = await checkpoints()
    expect(all.at(-1)?.size).toBe(before + 6)
    for (const { size, root } of all) expect(root.equals(await rootAt(database, size)), `at ${size}`).toBe(true)
    await requireStoredCheckpoint(database, checkpointFile)
  },
)
