import { beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/product/product.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const scripted = scriptedEndpoint()
const { order } = scripted
const attemptsMax = 3
const fails = () => Promise.resolve<Outcome>({ kind: 'failed', code: 'NO_DATA', message: 'nothing yet' })

let service: TestService
beforeAll(async () => {
  service = await openTestService({
    seams: { endpoints: withEndpoint(scripted) },
    sale: { attemptsMax },
  })
})

async function paidProof(): Promise<string> {
  return service.payer.pay(await askForQuote(service, order))
}

/** States of all payments, in the order of the ledger. */
function states(): Promise<readonly string[]> {
  return withAdminSession(service.database.adminUrl, async (session) => {
    const { rows } = await session.query<{ state: string }>(
      "select state from ledger.streams where kind = 'payment' order by stream",
    )
    return rows.map(({ state }) => state)
  })
}

describe('attempts with one payment', () => {
  test('are bounded: the last failure says so, later requests run no handler, and the payment is owed back', async () => {
    const proof = await paidProof()
    const runs = scripted.runs()
    scripted.script(...Array.from({ length: 10 }, () => fails))
    for (let attempt = 1; attempt < attemptsMax; attempt++) {
      const reply = await ask(service, { ...order, proof })
      expect(reply).toMatchObject({ status: 404, body: { code: 'NO_DATA', error: 'nothing yet' } })
    }
    const last = await ask(service, { ...order, proof })
    expect(last).toMatchObject({ status: 404, body: { code: 'NO_DATA' } })
    expect(last.body['error']).toContain('last permitted attempt')
    const beyond = await ask(service, { ...order, proof })
    expect(beyond).toMatchObject({ status: 402, body: { code: 'INVALID_PAYMENT' } })
    expect(['attempts_exhausted', 'refund_due']).toContain(beyond.body['reason'])
    expect(scripted.runs() - runs).toBe(attemptsMax)
    await awaitThat('the payment is owed back', async () => (await states()).at(-1) === 'refund_due')
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 402, body: { reason: 'refund_due' } })
    expect(scripted.runs() - runs).toBe(attemptsMax)
    scripted.script()
  })

  test('end at once with an answer that says that no other is worth its cost, and the payment is owed back', async () => {
    const proof = await paidProof()
    scripted.script(() =>
      Promise.resolve({ kind: 'failed', code: 'UPSTREAM_TIMEOUT', message: 'the page hangs', endsPayment: true }),
    )
    const only = await ask(service, { ...order, proof })
    expect(only).toMatchObject({ status: 504, body: { code: 'UPSTREAM_TIMEOUT' } })
    expect(only.body['error']).toContain('last permitted attempt')
    await awaitThat('the payment is owed back', async () => (await states()).at(-1) === 'refund_due')
    scripted.script()
  })

  test('end with an answer when the last one delivers', async () => {
    const proof = await paidProof()
    scripted.script(...Array.from({ length: attemptsMax - 1 }, () => fails))
    for (let attempt = 1; attempt < attemptsMax; attempt++)
      expect((await ask(service, { ...order, proof })).status).toBe(404)
    expect((await ask(service, { ...order, proof })).status).toBe(200)
    expect(await ask(service, { ...order, proof })).toMatchObject({ body: { reason: 'already_used' } })
  })
})
