import { expect, test } from 'vitest'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openShop } from '../support/shop.ts'

// One QR code costs five tokens.
const shop = await openShop({ env: { EXPOSURE_MAX_TOKENS: '5' } })

test('above the cap quotes and first claims are refused until finality catches up, and a proof stays good meanwhile', async () => {
  const other = await askForQuote(shop)
  const proof = await shop.payer.pay(other)
  await buy(shop)
  const [quote, claim] = [await ask(shop, qrOrder), await ask(shop, { ...qrOrder, proof })]
  for (const { status, headers, body } of [quote, claim]) {
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE', error: expect.stringContaining('final') })
    expect(headers.get('retry-after')).toBe('5')
  }
  await awaitThat('quotes are given again', async () => (await ask(shop, qrOrder)).status === 402)
  expect((await ask(shop, { ...qrOrder, proof })).status).toBe(200)
})
