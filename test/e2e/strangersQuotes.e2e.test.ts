import { Connection } from '@solana/web3.js'
import { z } from 'zod'
import { expect, test } from 'vitest'
import { ask, askForQuote, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openTestService, type TestService } from '../support/testService.ts'

test('a stranger who reads the memo of a payment on chain cannot make it worthless by asking for quotes with it', async () => {
  const service = await openTestService()
  const quote = await askForQuote(service)
  const proof = await service.payer.pay(quote, 'boundSignature')
  const { memo } = quote.quote
  const landedBySlot = await new Connection(service.chain.rpcUrl, 'confirmed').getSlot()
  await awaitThat('the service sees a slot after the payment', async () => (await slotOf(service)) > landedBySlot)

  const asked = await fetch(`${service.baseUrl}/pay${qrOrder.path}/${memo.slice('tollbook:'.length)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account: service.payer.address }),
  })
  expect(asked.status).toBe(200)
  const { rows } = await openPool(service.database.ownerUrl, 1).query<{ isYounger: boolean }>(
    'select slot > $2 as "isYounger" from ledger.quotes where memo = $1 order by slot',
    [memo, landedBySlot],
  )
  expect(rows).toEqual([{ isYounger: false }, { isYounger: true }])

  const reply = await ask(service, { ...qrOrder, proof })
  expect([reply.status, reply.body['reason']]).toEqual([200, undefined])
})

const chainFacts = z.object({ nodes: z.array(z.object({ slot: z.number() })) })
const healthBody = z.object({
  data: z.object({ checks: z.object({ chain: z.object({ facts: chainFacts }) }) }),
})

/** Slot of the last poll of the service's only node, from which a quote gets its slot. */
async function slotOf({ baseUrl }: TestService): Promise<number> {
  const health = healthBody.parse(await (await fetch(`${baseUrl}/api/health`)).json())
  return health.data.checks.chain.facts.nodes[0]?.slot ?? 0
}
