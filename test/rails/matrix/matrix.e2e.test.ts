import { expect, test } from 'vitest'
import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { openCustomer } from './customers.ts'
import { openScene } from './scene.ts'

const extra = z.object({ accepted: z.object({ extra: z.object({ secret: z.string() }) }) })

test('the native rail names x402 for a payment of x402 that is not confirmed yet', async () => {
  const scene = await openScene()
  const [wallet] = await scene.fund(1)
  assert(wallet !== undefined, 'it is funded')
  const customer = await openCustomer({ kind: 'x402', client: '@x402/fetch' }, { ...scene, wallet })
  scene.interrupt(wallet, 'submitted')
  expect(await customer.call()).toBe(503)
  const { references } = await scene.facts(wallet)
  const [signature] = references.map((reference) => reference.replace('solana:', ''))
  const { secret } = extra.parse(JSON.parse(Buffer.from(customer.paid('payment-signature') ?? '', 'base64').toString()))
    .accepted.extra
  const proof = Buffer.from(JSON.stringify({ signature, secret })).toString('base64')
  const headers = { 'x-wallet-address': wallet.publicKey.toBase58(), 'x-payment-proof': proof }
  const response = await fetch(`${scene.baseUrl()}/api/data/crypto?symbol=BTC`, { headers })
  expect([response.status, await response.json()]).toMatchObject([
    409,
    { code: 'PAYMENT_IN_PROGRESS', error: expect.stringContaining('made by x402') },
  ])
})
