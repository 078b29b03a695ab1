import { beforeAll, expect, test } from 'vitest'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { publicReceiptKey } from '../../src/settings/receiptKeys.ts'
import { ask, askForQuote } from '../support/ask.ts'
import { changeSettings, openWallet } from '../support/changeSettings.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { scriptedEndpoint, withEndpoint } from '../support/scriptedEndpoint.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const scripted = scriptedEndpoint()
const { order } = scripted
const seams = { endpoints: withEndpoint(scripted) }
const clock = shiftedClock()
const overlapMs = 60 * 60 * 1000
const nextKey = makeReceiptKey()
let outgoing: TestService
let incoming: TestService
let newWallet: string
let before: { readonly proof: string; readonly receipt: unknown }

beforeAll(async () => {
  outgoing = await openTestService({ seams, clock })
  const quote = await askForQuote(outgoing, order)
  const proof = await outgoing.payer.pay(quote)
  const { body } = await ask(outgoing, { ...order, proof, idempotencyKey: 'before' })
  before = { proof, receipt: body['receipt'] }
  newWallet = await openWallet(outgoing, quote.tokenMint)
  await changeSettings(
    outgoing,
    { 'receipt-key': publicReceiptKey.parse(nextKey), 'payment-wallet': newWallet },
    overlapMs,
  )
  const env = { RECEIPT_SIGNING_KEY: JSON.stringify(nextKey), PAYMENT_WALLET: newWallet }
  incoming = await openTestService({ besides: outgoing, seams, env })
  // The next read of the settings.
  clock.advance(6_000)
  await awaitThat('the outgoing instance knows both keys', async () => (await keysOf(outgoing)).length === 2)
})

async function keysOf({ baseUrl }: TestService): Promise<readonly object[]> {
  const { keys } = (await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as { keys: object[] }
  return keys
}

test.each(['signature', 'boundTransaction'] as const)(
  'a payment to either wallet is served by either instance while the wallet changes (%s)',
  async (form) => {
    for (const [asked, served] of [
      [outgoing, incoming],
      [incoming, outgoing],
    ] as const) {
      const quote = await askForQuote(asked, order)
      expect(quote.paymentWallet === newWallet).toBe(asked === incoming)
      const proof = await outgoing.payer.pay(quote, form)
      const reply = await ask(served, { ...order, proof })
      expect(reply).toMatchObject({ status: 200, body: { receipt: { priceList: quote.quote.priceList } } })
      const keys = { keys: await keysOf(asked) }
      expect(await verifyReceipt({ receipt: reply.body['receipt'], keys })).toMatchObject({ valid: true })
    }
  },
)

test('a receipt of before the change still verifies, and its replay is signed by the new key with both times', async () => {
  const keys = { keys: await keysOf(incoming) }
  expect(keys.keys).toMatchObject([{ x: nextKey.x, nbf: expect.any(Number) }, { exp: expect.any(Number) }])
  expect(await verifyReceipt({ receipt: before.receipt, keys })).toMatchObject({ valid: true })
  const { proof } = before
  const replay = await ask(incoming, { ...order, proof, idempotencyKey: 'before' })
  expect(replay.headers.get('idempotent-replay')).toBe('true')
  const verdict = await verifyReceipt({ receipt: replay.body['receipt'], keys })
  expect(verdict).toMatchObject({ valid: true, receipt: { reissuedAt: expect.any(String) } })
})

test('the outgoing instance stops selling before its values end, and says why', async () => {
  const proof = await outgoing.payer.pay(await askForQuote(outgoing, order))
  clock.advance(overlapMs)
  await awaitThat('the outgoing instance has read the settings', async () => {
    const { status, body } = await ask(outgoing, { path: '/readyz' })
    return status === 503 && JSON.stringify(body).includes('settings')
  })
  const closed = await ask(outgoing, { ...order, proof })
  expect(closed.status).toBe(503)
  expect((await ask(incoming, { ...order, proof })).status, 'the payment is not lost').toBe(200)
})
