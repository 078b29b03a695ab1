import { expect, test } from 'vitest'
import type { Outcome } from '../../src/product/product.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { delivers, scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService } from '../support/testService.ts'

test('I37 a stop answers requests in progress, sells nothing new, and loses no payment', async () => {
  const scripted = scriptedEndpoint()
  const service = await openTestService({
    seams: { endpoints: withEndpoint(scripted) },
    env: { HEALTH_PORT: '0' },
  })
  const proof = await service.payer.pay(await askForQuote(service, scripted.order))
  const gate = Promise.withResolvers<Outcome>()
  const started = Promise.withResolvers<void>()
  scripted.script(() => {
    started.resolve()
    return gate.promise
  })
  const underWay = ask(service, { ...scripted.order, proof })
  await started.promise

  const readiness = async () => (await fetch(`${service.healthUrl}/readyz`)).status
  expect(await readiness()).toBe(200)

  const closed = service.close()
  await awaitThat('a balancer learns of the stop', async () => (await readiness()) === 503)
  await expect(ask(service, scripted.order)).rejects.toThrow('fetch failed')
  gate.resolve(delivers)
  expect((await underWay).status).toBe(200)
  await closed

  const next = await openTestService({ besides: service, seams: { endpoints: withEndpoint(scripted) } })
  expect(await ask(next, { ...scripted.order, proof })).toMatchObject({ status: 402, body: { reason: 'already_used' } })
})
