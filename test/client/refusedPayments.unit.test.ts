import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { PaymentRefused, PaymentUnspent } from '@tollbook/client/paymentError'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { encodeBase58 } from '@tollbook/core/base58'
import { createRefusedPayments } from '@tollbook/client/refusedPayments'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import { finalTip, lastValidBlockHeight, statusAnswer } from './support/scriptedNode.ts'
import type { Step } from './support/scriptedService.ts'
import { mint } from './support/testToken.ts'

/* The limit has room for one payment. A refused one holds it until the chain proves that it never lands. */

const crypto = '/api/data/crypto?symbol=BTC'
const spendingLimit = { perRequest: { usd: '0.02' }, total: { usd: '0.02' } }
const refusal = (status: number, code: string, more: object = {}): Step => {
  return { status, body: { error: 'no', code, ...more } }
}
const simulationFailed = refusal(402, 'INVALID_PAYMENT', { reason: 'simulation_failed' })
const keyReused = refusal(422, 'IDEMPOTENCY_KEY_REUSED')

interface RefusedScene extends Scene {
  readonly folder: string
  readonly start: (options?: Partial<PayingFetchOptions>) => PayingFetch
}

async function openRefusedScene(): Promise<RefusedScene> {
  const folder = join(await makeScratchDirectory(), 'payments')
  const scene = await openScene()
  const { wallet, clock, service } = scene
  const start = (options: Partial<PayingFetchOptions> = {}) =>
    createPayingFetch({
      wallet,
      clock,
      rpcUrl: service.rpcUrl,
      expectedMint: mint.toBase58(),
      spendingLimit,
      store: openPaymentFolder(folder),
      ...options,
    })
  return { ...scene, folder, start }
}

/** From now on no block can take the payment, and the chain says what became of it. */
function expire({ service: { node } }: Scene, status: Parameters<typeof statusAnswer>[0]): void {
  node.answers['getEpochInfo'] = () => finalTip(lastValidBlockHeight + 1)
  node.answers['getSignatureStatuses'] = () => statusAnswer(status)
}

test.each([
  ['a refusal for good', simulationFailed, 'PaymentRefused', 'simulation_failed'],
  ['a key that was used for another request', keyReused, 'PaymentRefused', 'IDEMPOTENCY_KEY_REUSED'],
])(
  '%s closes the payment: it is not presented again, and its amount is free again',
  async (_name, step, name, reason) => {
    const scene = await openRefusedScene()
    const { service, folder, url, start, wallet } = scene
    service.script = [step]
    const payingFetch = start()
    expect(await rejectionOf(payingFetch(url(crypto)))).toMatchObject({ name, reason })
    const store = openPaymentFolder(folder)
    expect(await store.pending()).toEqual([])
    expire(scene, 'not_found')
    expect((await payingFetch(url(crypto))).status).toBe(200)
    expect([wallet.signed, (await store.spending()).length, service.presented.length]).toEqual([2, 1, 2])
    expect((await readdir(folder)).filter((file) => file.endsWith('.json'))).toEqual([])
  },
)

test.each(['not_found', 'failed'] as const)(
  'a refused payment that the chain calls %s after its end is given back by a later process, and without a store by its own',
  async (status) => {
    const scene = await openRefusedScene()
    const { service, url, start, wallet } = scene
    service.script = [simulationFailed]
    await rejectionOf(start()(url(crypto)))
    const alone = await openScene({ spendingLimit })
    alone.service.script = [simulationFailed]
    await rejectionOf(alone.payingFetch(url(crypto).replace(service.baseUrl, alone.service.baseUrl)))
    for (const each of [scene, alone]) expire(each, status)
    expect((await start()(url(crypto))).status).toBe(200)
    expect((await alone.payingFetch(alone.url(crypto))).status).toBe(200)
    expect([wallet.signed, alone.wallet.signed]).toEqual([2, 2])
  },
)

test('a refused payment that can still land, or has landed, counts against the limit in every process', async () => {
  const scene = await openRefusedScene()
  const { service, url, start, wallet, folder } = scene
  service.script = [keyReused]
  const payingFetch = start()
  await rejectionOf(payingFetch(url(crypto)))
  const refusedBy = async (each: PayingFetch) =>
    expect(await rejectionOf(each(url(crypto)))).toMatchObject({ name: 'SpendingLimitExceeded' })
  for (const each of [payingFetch, start()]) await refusedBy(each)
  expire(scene, 'confirmed')
  for (const each of [payingFetch, start()]) await refusedBy(each)
  service.node.answers['getEpochInfo'] = () => 'broken'
  for (const each of [payingFetch, start()]) await refusedBy(each)
  expect(wallet.signed).toBe(1)
  expect(await openPaymentFolder(folder).refused?.()).toHaveLength(1)
})

test('a payment that expired before it was refused is given back at once, and leaves no file', async () => {
  const scene = await openRefusedScene()
  const { service, folder, url, start } = scene
  expire(scene, 'not_found')
  service.script = [refusal(402, 'INVALID_PAYMENT', { reason: 'blockhash_expired' })]
  expect(await rejectionOf(start()(url(crypto)))).toMatchObject({ reason: 'blockhash_expired' })
  expect(await openPaymentFolder(folder).spending()).toEqual([])
  expect((await readdir(folder)).filter((file) => file.endsWith('.json'))).toEqual([])
})

test('after a key that was used for another request, a payment that has landed buys another request under a new key', async () => {
  const { service, url, start, keys, wallet } = await openRefusedScene()
  service.script = [keyReused]
  const payingFetch = start({ form: 'signature' })
  const error = await rejectionOf(payingFetch(url(crypto)))
  if (!(error instanceof PaymentUnspent)) throw error
  expect((await payingFetch.resume(error.payment, { instead: { input: url(crypto) } })).status).toBe(200)
  expect([wallet.signed, keys().length]).toEqual([1, 2])
})

test('a folder that cannot be read does not hide that a payment was refused', async () => {
  const { service, url, start, folder } = await openRefusedScene()
  service.script = [simulationFailed]
  const refused = () => Promise.reject(new Error('too many open files'))
  const store = { ...openPaymentFolder(folder), refused }
  expect(await rejectionOf(start({ store })(url(crypto)))).toMatchObject({ name: 'PaymentRefused' })
})

test('a payment with a fee payer that was given up is never returned: its absence by the wallet’s signature proves nothing', async () => {
  const scene = await openRefusedScene()
  const { service, url, start, folder } = scene
  service.script = [simulationFailed]
  const error = await rejectionOf(start()(url(crypto)))
  if (!(error instanceof PaymentRefused)) throw error
  const file = join(folder, `${error.payment.signature}.refused.json`)
  await writeFile(file, JSON.stringify({ ...error.payment, protocol: 'x402' }))
  expire(scene, 'not_found')
  expect(await rejectionOf(start()(url(crypto)))).toMatchObject({ name: 'SpendingLimitExceeded' })
})

test('of many refused payments the newest twenty are looked up, because older ones were looked up when they were new', async () => {
  const signatures = Array.from({ length: 25 }, (_, nth) => encodeBase58(new Uint8Array(64).fill(nth + 1)))
  // A folder lists its files by name, not by time.
  const listed = signatures.map((signature, nth) => ({ signature, lastValidBlockHeight: 1, signedAtMs: nth })).reverse()
  const asked: string[] = []
  const chain = {
    finalizedTip: () => Promise.resolve({ height: 10, slot: 1 }),
    findStatus: (signature: string) => {
      asked.push(signature)
      return Promise.resolve('confirmed')
    },
  }
  const store = { refused: () => Promise.resolve(listed) }
  // The whole payer is more than what is asked here.
  const deps = { chain, store, open: {} } as unknown as Parameters<typeof createRefusedPayments>[0]
  expect(await createRefusedPayments(deps).giveBack()).toBe(false)
  expect(asked).toEqual(signatures.slice(5))
})
