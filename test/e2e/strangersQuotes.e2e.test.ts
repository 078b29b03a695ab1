import { expect, test } from 'vitest'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openTestService } from '../support/testService.ts'

test('a stranger who reads the memo of a payment on chain cannot make it worthless by asking for quotes with it', async () => {
  const service = await openTestService()
  const quote = await askForQuote(service)
  const proof = await service.payer.pay(quote, 'boundSignature')
  const { memo } = quote.quote
  const askAsStranger = () =>
    fetch(`${service.baseUrl}/pay${qrOrder.path}/${memo.slice('tollbook:'.length)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ account: service.payer.address }),
    })
  const owner = openPool(service.database.ownerUrl, 1)
  await awaitThat('a quote with this memo is younger than the payment', async () => {
    expect((await askAsStranger()).status).toBe(200)
    const { rows } = await owner.query<{ slots: string }>(
      'select max(slot) - min(slot) as slots from ledger.quotes where memo = $1',
      [memo],
    )
    return Number(rows[0]?.slots) > 50
  })

  const reply = await ask(service, { ...qrOrder, proof })
  expect([reply.status, reply.body['reason']]).toEqual([200, undefined])
})
