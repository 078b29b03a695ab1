import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { readReport } from '../../src/reports/readReport.ts'
import { isProblems, readQuestion } from '../../src/reports/reportQuestion.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { multiplyLedger } from '../proofs/finance/multiplyLedger.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import { claimOf, sampleAddress, sampleEvidence, sampleMint, sampleSettlement } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'

/* More refunds of one wallet than are read at once. */

const [seed, grown] = [await createTestDatabase(), await createTestDatabase()]
const ledger = await openInstance(seed.serviceUrl)
const [overpaying, factor] = [51, 100]

test('the oldest refunds of a wallet that is owed thousands are listed', async () => {
  const wallet = sampleAddress()
  for (let nth = 0; nth < overpaying; nth++) {
    // Only the first one is older than the day.
    const evidence = sampleEvidence({
      blockTimeMs: Date.parse(nth === 0 ? '2026-11-20T10:00:00Z' : '2026-11-21T10:00:00Z'),
    })
    const settlement = sampleSettlement({ wallet, receivedBaseUnits: 7_000_011n, evidence })
    await mustAppend(ledger, claimOf(settlement).change)
  }
  while ((await rollUp(ledger.database)) > 0);
  await multiplyLedger({ fromUrl: seed.adminUrl, toUrl: grown.adminUrl, factor, onProgress: () => undefined })
  const { database } = await openInstance(grown.serviceUrl)
  const oldest = readQuestion('refunds', { to: '2026-11-20', limit: '10' })
  assert(!isProblems(oldest), 'the question is understood')
  const table = await readReport(database, { ...oldest, report: 'refunds', token: { mint: sampleMint, decimals: 6 } })
  expect(table.rows.map((row) => [row['wallet'], row['refund']])).toEqual(
    Array.from({ length: 10 }, () => [wallet, 'due']),
  )
})
