import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { signatureOfBytes } from '@tollbook/core/signature'
import { decideBurnSubmit, unknownBurn } from '../../src/payment/burn.ts'
import { silentLog } from '../../src/machine/log.ts'
import { createBurnLedger } from '../../src/store/burnStore.ts'
import { openDatabase } from '../../src/store/database.ts'
import { sampleMint } from './samplePayment.ts'

test('a burn whose recording the database did not report may be tried again', async () => {
  // Nothing listens on port 1.
  const databaseUrl = 'postgres://tollbook@127.0.0.1:1/tollbook'
  const database = openDatabase({ databaseUrl, applicationName: 'test', connectionsMax: 1, log: silentLog })
  const parts = [{ endpoint: '/api/ai/chat', baseUnits: 1n }]
  const delegate = { allowanceBaseUnits: 1n, lamports: 50_000n }
  const bytes = { lastValidHeight: 900, delegate, transactionBase64: '' }
  const round = { round: 1, mint: sampleMint, throughPosition: 1, parts, ...bytes }
  const [event] = assertPresent(decideBurnSubmit(unknownBurn, round), 'the first round can be submitted').events
  const signature = assertPresent(signatureOfBytes(new Uint8Array(64).fill(7)), '64 bytes are a signature')
  try {
    const recording = createBurnLedger(database).record({ signature, event, effectiveAtMs: 0 })
    await expect(recording).rejects.toSatisfy((error) => error instanceof Fault && error.retryable)
  } finally {
    await database.destroy()
  }
})
