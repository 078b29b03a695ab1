import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import { mint } from './support/testToken.ts'

/* Two windows of one host are two paying fetches over one folder. */

const crypto = '/api/data/crypto?symbol=BTC'

interface Windows extends Scene {
  readonly turns: string
  open(options?: Partial<PayingFetchOptions>): PayingFetch
}

async function openWindows(): Promise<Windows> {
  const folder = join(await makeScratchDirectory(), 'payments')
  const scene = await openScene()
  const { wallet, clock, service } = scene
  const open = (options: Partial<PayingFetchOptions> = {}) =>
    createPayingFetch({
      wallet,
      clock,
      rpcUrl: service.rpcUrl,
      expectedMint: mint.toBase58(),
      spendingLimit: { perRequest: { usd: '0.05' } },
      store: openPaymentFolder(folder),
      ...options,
    })
  return { ...scene, turns: join(folder, 'turns'), open }
}

const filesIn = async (folder: string, suffix: string) =>
  (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(suffix))

/** Holds the answers of the service until they are released. */
function holdAnswers({ service }: Scene) {
  const released = Promise.withResolvers<void>()
  const receipt = service.receipt
  service.receipt = async (proof, endpoint) => {
    await released.promise
    return receipt(proof, endpoint)
  }
  return released.resolve
}

test.each([
  ['with a key', { headers: { 'idempotency-key': 'mine' } }],
  ['without a key', {}],
])(
  'of two windows with the same request %s one pays, and the other waits for it and gets its answer',
  async (_, init) => {
    const scene = await openWindows()
    const { service, wallet, turns, proofs, keys, open, url } = scene
    const release = holdAnswers(scene)
    const first = open()(url(crypto), init)
    await awaitThat('the first window pays', () => service.presented.length === 1)
    const second = open()(url(crypto), init)
    await awaitThat('the second window waits', async () => (await filesIn(turns, '.wait')).length === 1)
    expect([wallet.signed, service.presented.length, service.unpaid.length]).toEqual([1, 1, 1])
    release()
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200])
    expect([wallet.signed, proofs().length, keys().length, service.presented.length]).toEqual([1, 1, 1, 2])
    expect(await readdir(turns)).toEqual([])
  },
)

test('a window that waits for a payment without an answer presents it then, and never together with the other', async () => {
  const scene = await openWindows()
  const { service, wallet, turns, proofs, open, url } = scene
  const release = holdAnswers(scene)
  service.script = ['reset']
  const first = open({ retry: { attemptsMax: 1 } })(url(crypto))
  const outcome = rejectionOf(first)
  await awaitThat('the first window pays', () => service.presented.length === 1)
  const second = open()(url(crypto))
  await awaitThat('the second window waits', async () => (await filesIn(turns, '.wait')).length === 1)
  release()
  expect(await outcome).toMatchObject({ name: 'PaymentUnresolved' })
  expect((await second).status).toBe(200)
  expect([wallet.signed, proofs().length]).toEqual([1, 1])
})

test('eight calls in each of three windows, under three keys, make three payments and get 24 answers', async () => {
  const scene = await openWindows()
  const { wallet, turns, keys, open, url } = scene
  const windows = [open(), open(), open()]
  const calls = windows.flatMap((window) =>
    Array.from({ length: 8 }, (_unused, n) =>
      window(url(`/api/data/crypto?symbol=${n % 3}`), { headers: { 'idempotency-key': `key ${n % 3}` } }),
    ),
  )
  const answers = await Promise.all(calls)
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 24 }, () => 200))
  expect([wallet.signed, new Set(keys()).size]).toEqual([3, 3])
  expect(await readdir(turns)).toEqual([])
})

test('a caller who has stopped already does not wait', async () => {
  const scene = await openWindows()
  const { service, wallet, open, url } = scene
  const release = holdAnswers(scene)
  const first = open()(url(crypto))
  await awaitThat('the first window pays', () => service.presented.length === 1)
  expect(String(await rejectionOf(open()(url(crypto), { signal: AbortSignal.abort(new Error('enough')) })))).toContain(
    'enough',
  )
  release()
  expect((await first).status).toBe(200)
  expect(wallet.signed).toBe(1)
})

test('another request does not wait', async () => {
  const scene = await openWindows()
  const { service, open, url } = scene
  const release = holdAnswers(scene)
  const first = open()(url(crypto))
  await awaitThat('the first window pays', () => service.presented.length === 1)
  const second = open()(url('/api/data/crypto?symbol=ETH'))
  await awaitThat('the second window pays too', () => service.presented.length === 2)
  release()
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200])
})

test('a caller who stops waiting has paid nothing and is not waited for', async () => {
  const scene = await openWindows()
  const { service, wallet, turns, open, url } = scene
  const release = holdAnswers(scene)
  const first = open()(url(crypto))
  await awaitThat('the first window pays', () => service.presented.length === 1)
  const stopping = new AbortController()
  const second = rejectionOf(open()(url(crypto), { signal: stopping.signal }))
  await awaitThat('the second window waits', async () => (await filesIn(turns, '.wait')).length === 1)
  stopping.abort(new Error('enough'))
  expect(String(await second)).toContain('enough')
  release()
  expect((await first).status).toBe(200)
  expect(wallet.signed).toBe(1)
  expect(await readdir(turns)).toEqual([])
})

/** The lock of a call, as the file system has it while the call runs. */
async function lockName(scene: Windows): Promise<string> {
  let name = ''
  const onEvent = async () => {
    name = (await filesIn(scene.turns, '.lock'))[0] ?? name
  }
  await scene.open({ onEvent })(scene.url(crypto))
  return name
}

test.each([
  ['has ended', { host: hostname(), pid: 2 ** 22 + 1, token: 'x' }],
  ['is silent on another machine', { host: 'another.machine', pid: 1, token: 'x' }],
])('the turn of a process that %s is taken over', async (_name, holder) => {
  const scene = await openWindows()
  const { wallet, turns, open, url, clock } = scene
  const path = join(turns, await lockName(scene))
  await mkdir(turns, { recursive: true })
  await writeFile(path, JSON.stringify(holder))
  await utimes(path, 1, 1)
  const store = openPaymentFolder(join(turns, '..'), { clock })
  expect((await open({ store })(url(crypto))).status).toBe(200)
  expect([wallet.signed, await readdir(turns)]).toEqual([2, []])
})
