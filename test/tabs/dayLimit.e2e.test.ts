import { expect, test } from 'vitest'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { openTestService } from '../support/testService.ts'
import { askOnTab, openTab } from './tabClient.ts'

const env = { PRICES_USD: '/api/tools/qrcode=0.05' }

test('a deposit at another instance does not hide what a tab has spent today', async () => {
  const service = await openTestService({ sellsTabs: true, env })
  const other = await openTestService({ sellsTabs: true, besides: service, env })
  const tab = await openTab(service, { maxPerDayUsd: 0.1 })
  const buy = (number: number) =>
    askOnTab(service, tab, { ...qrOrder, body: { data: `answer ${number}` } }, { number, maxBaseUnits: 100_000_000n })
  expect((await buy(1)).status).toBe(200)
  const order = { path: '/api/tabs', body: { depositUsd: 1, tab: tab.tab } }
  const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
  // The first instance has just read the tab, and does not know this deposit.
  expect((await buy(2)).status).toBe(200)
  expect((await ask(other, { ...order, proof })).status).toBe(200)
  expect(await buy(3)).toMatchObject({ status: 402, body: { reason: 'tab_limit' } })
})
