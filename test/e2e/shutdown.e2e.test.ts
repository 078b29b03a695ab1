import { expect, test } from 'vitest'
import type { Outcome } from '../../src/product/product.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { delivers, scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openShop } from '../support/shop.ts'

test('I37 a stop answers what is under way, sells nothing new, and loses no payment', async () => {
  const scripted = scriptedEndpoint()
  const shop = await openShop({ seams: { endpoints: withEndpoint(scripted) } })
  const proof = await shop.payer.pay(await askForQuote(shop, scripted.order))
  const gate = Promise.withResolvers<Outcome>()
  const started = Promise.withResolvers<void>()
  scripted.script(() => {
    started.resolve()
    return gate.promise
  })
  const underWay = ask(shop, { ...scripted.order, proof })
  await started.promise

  const closed = shop.close()
  await expect(ask(shop, scripted.order)).rejects.toThrow('fetch failed')
  gate.resolve(delivers)
  expect((await underWay).status).toBe(200)
  await closed

  const next = await openShop({ besides: shop, seams: { endpoints: withEndpoint(scripted) } })
  expect(await ask(next, { ...scripted.order, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
})
