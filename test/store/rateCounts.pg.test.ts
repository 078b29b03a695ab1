import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'

test('a payment takes back what an instance has shared, and the other clients of the report are counted', async () => {
  const { serviceUrl } = await createTestDatabase()
  const ledger = await openInstance(serviceUrl)
  const counted = { name: 'quotes', window: 7, endsAtMs: Date.now() + 60_000 }
  const report = (client: string, more: number) => ({ ...counted, client, more })
  await ledger.shareRates([report('payer', 12)])

  const totals = await ledger.shareRates([report('payer', -2), report('other', 40)])

  expect(Object.fromEntries(totals.map(({ client, total }) => [client, total]))).toEqual({ other: 40, payer: 10 })
})
