import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { readAddress } from '@tollbook/core/address'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { decideUnmatched } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { tokenPrograms } from '@tollbook/core/programs'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { exportLedger } from '../../src/reports/export/exportLedger.ts'
import { createReports } from '../../src/reports/reports.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import { sampleAddress, sampleMint, samplePrice, sampleReference } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'

/* A dollar that is accepted and never sold, because its smallest price is above all prices. A wallet sent some of it. */

const { serviceUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const dollar = assertPresent(readAddress(sampleDollarMint), 'the mint is an address')

test('a mint with an arrival and no price has reports by the decimals of its setting', async () => {
  const prices = [samplePrice('/api/data/weather', 3_000_000n)]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
  const value = { decimals: 6, tokenProgram: assertPresent([...tokenPrograms][0], 'a program') }
  await ledger.settings.record([{ name: `mint/${dollar}`, value }])
  const wallet = sampleAddress()
  const transfer = { wallet, mint: dollar, receivedBaseUnits: 1_500_000n, slot: 1 }
  const decision = assertPresent(decideUnmatched(unknownPayment, transfer), 'an arrival is recorded')
  await mustAppend(ledger, {
    reference: sampleReference(),
    before: unknownPayment,
    ...decision,
    nowMs: systemClock.nowMs(),
  })
  while ((await rollUp(ledger.database)) > 0);

  const reports = createReports(ledger.database, { mint: sampleMint, decimals: 6 })
  expect(await reports.mints()).toContainEqual({ mint: dollar, name: 'USDC', decimals: 6 })
  expect((await reports.summary()).read).toMatchObject({ mint: sampleMint })
  const { read } = await (await reports.inMint('USDC')).summary()
  expect(read).toMatchObject({ decimals: 6, paymentWalletBaseUnits: '1500000', refundsDueBaseUnits: '1500000' })
  const month = isoTime(systemClock.nowMs()).slice(0, 7)
  expect(await text((await reports.statement({ wallet, month })).read)).toContain(',1.5')
  const chunks: string[] = []
  await exportLedger(ledger.database, {
    format: 'hledger',
    table: 'entries',
    from: undefined,
    to: undefined,
    verifierKey: undefined,
    signal: new AbortController().signal,
    write: async (chunk) => void chunks.push(String(chunk)),
  })
  expect(chunks.join('')).toContain('1.500000 USDC')
})
