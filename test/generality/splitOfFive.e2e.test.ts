import { beforeAll, expect, test } from 'vitest'
import { quoteBody, saleBody } from '@tollbook/core/wire'
import { openPool } from '../kernel/openKernel.ts'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { openTestService, type TestService } from '../support/testService.ts'

/* Five accounts instead of four, by one setting of the operator. No other line of the service knows their names. */

let service: TestService

beforeAll(async () => {
  service = await openTestService({ env: { SPLIT: 'burn:30,provider:42.5,holders:12.5,treasury:5,referrer:10' } })
})

test('a payment is divided among the five accounts of the setting, in the 402, the receipt and the ledger', async () => {
  const quote = await askForQuote(service)
  const five = { burn: '30%', provider: '42.5%', holders: '12.5%', treasury: '5%', referrer: '10%' }
  expect(quoteBody.parse(quote).distribution).toEqual(five)
  const reply = await ask(service, { ...qrOrder, proof: await service.payer.pay(quote) })
  expect(reply.status).toBe(200)
  const { receipt } = saleBody.parse(reply.body)
  const shares = { provider: '2125000', holders: '625000', treasury: '250000', referrer: '500000' }
  expect(receipt).toMatchObject({ requiredBaseUnits: '5000000', burned: '1500000', distribution: shares })

  const { rows } = await openPool(service.database.adminUrl, 1).query<{ name: string; balance: string }>(
    `select replace(name, 'Liabilities:Share:', '') as name, (-balance)::text as balance
     from ledger.accounts where class = 'share' order by name`,
  )
  expect(Object.fromEntries(rows.map(({ name, balance }) => [name, balance]))).toEqual(shares)
})

test('the ledger contains the split, with the price list and as a setting with its period', async () => {
  const admin = openPool(service.database.adminUrl, 1)
  const { rows } = await admin.query<{ split: unknown }>(
    `select coalesce(said -> 'split', said -> 'value') as split
     from ledger.settings, lateral (select convert_from(body, 'UTF8')::jsonb as said) body
     where name in ('prices', 'split') and number = 1`,
  )
  const recorded = [
    { account: 'burn', perMille: 300 },
    { account: 'provider', perMille: 425 },
    { account: 'holders', perMille: 125 },
    { account: 'treasury', perMille: 50 },
    { account: 'referrer', perMille: 100 },
  ]
  expect(rows.map(({ split }) => split)).toEqual([recorded, recorded])
})
