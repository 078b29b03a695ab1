import { expect, test } from 'vitest'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openTestService } from '../support/testService.ts'

// One QR code costs five tokens. In slots of this length, no payment becomes final before the test advances the chain.
const service = await openTestService({ env: { EXPOSURE_MAX_TOKENS: '5' }, slotMs: 400 })

test('above the cap quotes and first claims are refused until finality catches up, and a proof stays valid meanwhile', async () => {
  const other = await askForQuote(service)
  const proof = await service.payer.pay(other)
  await buy(service)
  const [quote, claim] = [await ask(service, qrOrder), await ask(service, { ...qrOrder, proof })]
  for (const { status, headers, body } of [quote, claim]) {
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE', error: expect.stringContaining('final') })
    expect(headers.get('retry-after')).toBe('5')
  }
  service.chain.advanceSlots(40)
  await awaitThat('quotes are given again', async () => (await ask(service, qrOrder)).status === 402)
  expect((await ask(service, { ...qrOrder, proof })).status).toBe(200)
})
