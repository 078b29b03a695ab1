import { execFile } from 'node:child_process'
import { appendFile, copyFile, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import { PaymentNotSent, PaymentRefused, PaymentUnresolved, PaymentUnspent } from '@tollbook/client/paymentError'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { SpendingLimitExceeded } from '@tollbook/client/spendingLimit'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import { mint } from './support/testToken.ts'

const crypto = '/api/data/crypto?symbol=BTC'

interface Restartable extends Scene {
  readonly folder: string
  /** A paying fetch of a process that starts now: it knows what the folder knows. */
  restart(options?: Partial<PayingFetchOptions>): PayingFetch
}

async function openRestartable(options: Partial<PayingFetchOptions> = {}): Promise<Restartable> {
  const folder = join(await makeScratchDirectory(), 'payments')
  const scene = await openScene()
  const { wallet, clock, service } = scene
  const restart = (more: Partial<PayingFetchOptions> = {}) =>
    createPayingFetch({
      wallet,
      clock,
      rpcUrl: service.rpcUrl,
      expectedMint: mint.toBase58(),
      spendingLimit: { perRequest: { usd: '0.05' } },
      store: openPaymentFolder(folder),
      ...options,
      ...more,
    })
  return { ...scene, folder, restart }
}

/** Without the journal and the folder of turns. */
async function paymentFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.json'))
}

test('a payment is on disk, private, before the service or the node has seen it, and gone after the answer', async () => {
  const { restart, folder, service, url } = await openRestartable()
  const seen: (readonly string[])[] = []
  const response = await restart({
    onEvent: async ({ kind }) => {
      if (kind !== 'signed') return
      seen.push(await paymentFiles(folder))
      expect([service.presented.length, service.node.sent.length]).toEqual([0, 0])
      const [name = ''] = await paymentFiles(folder)
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
    },
  })(url(crypto))
  expect(response.status).toBe(200)
  expect(seen[0]).toHaveLength(1)
  expect(await paymentFiles(folder)).toEqual([])
})

test('a payment whose record by the caller fails has not left: it is neither presented later nor counted as spent', async () => {
  const { restart, folder, service, url } = await openRestartable()
  const onEvent: PayingFetchOptions['onEvent'] = ({ kind }) =>
    kind === 'signed' ? Promise.reject(new Error('the disk is full')) : undefined
  const error = await rejectionOf(restart({ onEvent })(url(crypto)))
  expect(error).toBeInstanceOf(PaymentNotSent)
  expect(await paymentFiles(folder)).toEqual([])
  expect(await openPaymentFolder(folder).spending()).toEqual([])
  expect([service.presented.length, service.node.sent.length]).toEqual([0, 0])
})

test('a payment that has not left is never presented, although its amount cannot be given back in the journal', async () => {
  const { restart, folder, wallet, url } = await openRestartable()
  const journal = join(folder, 'spending.jsonl')
  const onEvent: PayingFetchOptions['onEvent'] = async ({ kind }) => {
    if (kind !== 'signed') return
    await rm(journal)
    await mkdir(journal)
    throw new Error('the disk is full')
  }
  const error = await rejectionOf(restart({ onEvent })(url(crypto)))
  expect(error).toBeInstanceOf(PaymentNotSent)
  expect(await paymentFiles(folder)).toEqual([])
  expect(wallet.signed).toBe(1)
})

test('a process that died between the file of a payment and its line in the journal loses neither', async () => {
  const { restart, folder, service, wallet, url } = await openRestartable({ retry: { attemptsMax: 1 } })
  service.script = ['reset']
  const error = await rejectionOf(restart()(url(crypto)))
  if (!(error instanceof PaymentUnresolved)) throw error
  const [paused, left] = await Promise.all([makeScratchDirectory(), makeScratchDirectory()])
  const journal = join(paused, 'spending.jsonl')
  // A pipe holds its writer until it has a reader, which is then at the journal.
  await promisify(execFile)('mkfifo', [journal])
  const keeping = openPaymentFolder(paused).keep(error.payment)
  const reader = await open(journal, 'r')
  for (const name of await paymentFiles(paused)) await copyFile(join(paused, name), join(left, name))
  // The pipe cannot be flushed.
  await expect(keeping).rejects.toThrow('EINVAL')
  await reader.close()
  expect(await paymentFiles(paused)).toEqual([])

  const store = openPaymentFolder(left)
  expect(await store.pending()).toEqual([error.payment])
  expect(await store.spending()).toMatchObject([{ signature: error.payment.signature }])
  const again = restart({ store, spendingLimit: { perRequest: { usd: '0.05' }, total: { usd: '0.03' } } })
  expect((await again(url(crypto))).status).toBe(200)
  expect(await rejectionOf(again(url('/api/data/crypto?symbol=ETH')))).toBeInstanceOf(SpendingLimitExceeded)
  expect([wallet.signed, await openPaymentFolder(folder).pending()]).toMatchObject([1, [error.payment]])
})

test('a withdrawn payment stays withdrawn, although another process has counted its file meanwhile', async () => {
  const folder = await makeScratchDirectory()
  const line = { signature: 's', host: 'h', mint: 'm', atMs: 1, attoUsd: '1', baseUnits: '1' }
  const lines = [line, { notSent: 's' }, line].map((each) => `${JSON.stringify(each)}\n`)
  await writeFile(join(folder, 'spending.jsonl'), lines.join(''))
  expect(await openPaymentFolder(folder).spending()).toEqual([])
})

test('a process that died after signing has left its payment, and the next call presents it and signs nothing', async () => {
  const { restart, service, wallet, proofs, url } = await openRestartable({ retry: { attemptsMax: 1 } })
  service.script = ['reset']
  expect(await rejectionOf(restart()(url(crypto)))).toBeInstanceOf(PaymentUnresolved)
  expect((await restart()(url(crypto))).status).toBe(200)
  expect([wallet.signed, proofs().length]).toEqual([1, 1])
  expect((await restart()(url(crypto))).status).toBe(200)
  expect(wallet.signed).toBe(2)
})

test('in one process too, a call that follows a lost outcome takes the payment, and only one of two does', async () => {
  const { restart, service, wallet, url } = await openRestartable({ retry: { attemptsMax: 1 } })
  const payingFetch = restart()
  service.script = ['reset']
  await rejectionOf(payingFetch(url(crypto)))
  const answers = await Promise.all([payingFetch(url(crypto)), payingFetch(url(crypto))])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(wallet.signed).toBe(2)
})

test('a payment that is closed while another call reads the store is not taken by it', async () => {
  const { restart, service, wallet, folder, url } = await openRestartable({ retry: { attemptsMax: 1 } })
  service.script = ['reset']
  await rejectionOf(restart()(url(crypto)))
  const store = openPaymentFolder(folder)
  const late = Promise.withResolvers<void>()
  let readings = 0
  const payingFetch = restart({
    store: {
      ...store,
      async pending() {
        const isLate = ++readings === 1
        const pending = await store.pending()
        if (isLate) await late.promise
        return pending
      },
    },
  })
  const slow = payingFetch(url(crypto))
  expect((await payingFetch(url(crypto))).status).toBe(200)
  late.resolve()
  expect((await slow).status).toBe(200)
  expect(wallet.signed).toBe(2)
})

test('another request, body, key or wallet is another purchase', async () => {
  const { restart, service, wallet, url } = await openRestartable({ retry: { attemptsMax: 1 } })
  const qrcode = url('/api/tools/qrcode')
  const post = (body: string, key?: string) => ({
    method: 'POST',
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
  service.script = ['reset']
  await rejectionOf(restart()(qrcode, post('{"data":"a"}', 'one')))
  const others = [[url(crypto)], [qrcode, post('{"data":"b"}')], [qrcode, post('{"data":"a"}', 'two')]] as const
  for (const [input, init] of others) expect((await restart()(input, init)).status).toBe(200)
  const stranger = await openScene()
  expect((await restart({ wallet: stranger.wallet })(qrcode, post('{"data":"a"}'))).status).toBe(200)
  expect([wallet.signed, stranger.wallet.signed]).toEqual([4, 1])
  expect((await restart()(qrcode, post('{"data":"a"}', 'one'))).status).toBe(200)
  expect(wallet.signed).toBe(4)
})

test('a payment that bought nothing stays, and buys the next answer to the same request', async () => {
  const { restart, service, wallet, url } = await openRestartable()
  service.script = [{ status: 404, body: { error: 'no data', code: 'NO_DATA' } }]
  expect(await rejectionOf(restart()(url(crypto)))).toBeInstanceOf(PaymentUnspent)
  expect((await restart()(url(crypto))).status).toBe(200)
  expect(wallet.signed).toBe(1)
})

test('a refused payment stays as evidence, and is not presented again', async () => {
  const { restart, service, folder, wallet, url } = await openRestartable()
  service.script = [{ status: 402, body: { error: 'no', code: 'INVALID_PAYMENT', reason: 'blockhash_expired' } }]
  const error = await rejectionOf(restart()(url(crypto)))
  if (!(error instanceof PaymentRefused)) throw error
  expect(await paymentFiles(folder)).toEqual([`${error.payment.signature}.refused.json`])
  expect((await restart()(url(crypto))).status).toBe(200)
  expect(wallet.signed).toBe(2)
})

test('limits per day, per host and in total count what earlier processes signed, refused payments too', async () => {
  const { restart, service, clock, wallet, url } = await openRestartable()
  service.script = ['deliver', { status: 402, body: { error: 'no', code: 'INVALID_PAYMENT', reason: 'already_used' } }]
  await restart()(url(crypto))
  await rejectionOf(restart()(url(crypto)))
  const scopes = [{ perDay: { usd: '0.05' } }, { perHost: { usd: '0.05' } }, { total: { usd: '0.05' } }]
  for (const scope of scopes) {
    const limited = restart({ spendingLimit: { perRequest: { usd: '0.05' }, ...scope } })
    expect(await rejectionOf(limited(url(crypto)))).toMatchObject({ asked: '0.02', allowed: '0.01' })
  }
  expect(wallet.signed).toBe(2)
  const spendingLimit = { perRequest: { usd: '0.05' }, perDay: { usd: '0.05' } }
  const tomorrow = { ...clock, nowMs: () => clock.nowMs() + 86_400_000 }
  service.quote = () => ({ status: 200, body: 'free' })
  expect((await restart({ spendingLimit, clock: tomorrow })(url(crypto))).status).toBe(200)
})

test('two paying fetches that take turns on one folder share the limits', async () => {
  const { restart, wallet, url } = await openRestartable()
  for (const scope of ['perDay', 'perHost', 'total'] as const) {
    const folder = join(await makeScratchDirectory(), 'payments')
    const start = () =>
      restart({
        store: openPaymentFolder(folder),
        spendingLimit: { perRequest: { usd: '0.05' }, [scope]: { usd: '0.05' } },
      })
    const [one, two] = [start(), start()]
    for (const payingFetch of [one, two]) expect((await payingFetch(url(crypto))).status).toBe(200)
    for (const payingFetch of [one, two])
      expect(await rejectionOf(payingFetch(url(crypto))), scope).toMatchObject({ asked: '0.02', allowed: '0.01' })
  }
  expect(wallet.signed).toBe(6)
})

test('of paying fetches that sign at the same time on one folder, no more pay than the limit allows', async () => {
  const { restart, folder, proofs, url } = await openRestartable()
  const spendingLimit = { perRequest: { usd: '0.05' }, total: { usd: '0.05' } }
  const buy = (n: number) => restart({ spendingLimit })(url(`/api/data/crypto?symbol=${n}`))
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(buy))
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refusals.map((error) => error instanceof SpendingLimitExceeded)).toEqual([true, true, true])
  expect(proofs()).toHaveLength(2)
  expect(await paymentFiles(folder)).toEqual([])
  expect(await openPaymentFolder(folder).spending()).toHaveLength(2)
})

test('a payment that another process overtook at the limit is neither handed to the caller nor counted afterwards', async () => {
  const { folder, restart, service, wallet, url } = await openRestartable()
  const inner = openPaymentFolder(folder)
  const other = { signature: 'other', host: 'h', mint: 'other', atMs: Date.now(), attoUsd: 10n ** 18n, baseUnits: 0n }
  let isOvertaken = true
  const spending = async () => {
    const all = await inner.spending()
    return isOvertaken && all.length > 0 ? [other, ...all] : all
  }
  const handed: string[] = []
  const payingFetch = restart({
    store: { ...inner, spending },
    spendingLimit: { perRequest: { usd: '0.02' }, total: { usd: '0.02' } },
    onEvent: (event) => void (event.kind === 'signed' && handed.push(event.payment.signature)),
  })
  expect(await rejectionOf(payingFetch(url(crypto)))).toBeInstanceOf(SpendingLimitExceeded)
  expect([wallet.signed, handed, service.presented.length]).toEqual([1, [], 0])
  isOvertaken = false
  expect((await payingFetch(url(crypto))).status).toBe(200)
  expect(handed).toHaveLength(1)
})

test('base units of another mint do not count against a limit in base units', async () => {
  const { restart, folder, url } = await openRestartable()
  await restart()(url(crypto))
  const other = { signature: 'x', host: 'h', mint: 'other', atMs: Date.now(), attoUsd: '0', baseUnits: '9'.repeat(30) }
  await appendFile(join(folder, 'spending.jsonl'), `\n${JSON.stringify(other)}\n`)
  const baseUnits = 40_000_000n
  const limited = { spendingLimit: { perRequest: { baseUnits }, total: { baseUnits } }, expectedMint: mint.toBase58() }
  expect((await restart(limited)(url(crypto))).status).toBe(200)
  expect(await rejectionOf(restart(limited)(url(crypto)))).toBeInstanceOf(SpendingLimitExceeded)
})

test('a line that a crash has cut is skipped; any other damage stops payments', async () => {
  const { restart, folder, wallet, url } = await openRestartable()
  await restart()(url(crypto))
  const journal = join(folder, 'spending.jsonl')
  await appendFile(journal, '\n{"signature":"cut')
  await restart()(url(crypto))
  expect((await openPaymentFolder(folder).spending()).length).toBe(2)
  await writeFile(journal, (await readFile(journal, 'utf8')).replace('"attoUsd":"', '"attoUsd":"-'))
  expect(String(await rejectionOf(restart()(url(crypto))))).toContain('spending.jsonl is damaged')
  expect(wallet.signed).toBe(2)
})

test('a file that is not a payment stops payments, because it may hide one', async () => {
  const { restart, folder, wallet, url } = await openRestartable()
  await restart()(url(crypto))
  await writeFile(join(folder, 'abc.json'), '{}')
  expect(String(await rejectionOf(restart()(url(crypto))))).toContain('abc.json is not a stored payment')
  expect(wallet.signed).toBe(1)
})

test('a folder that cannot be written stops the payment, and gives its amount back', async () => {
  const { restart, folder, service, url } = await openRestartable()
  const store = openPaymentFolder(folder)
  let isFull = true
  const keep: typeof store.keep = (payment) =>
    isFull ? Promise.reject(new Error('no space left on device')) : store.keep(payment)
  const payingFetch = restart({
    store: { ...store, keep },
    spendingLimit: { perRequest: { usd: '0.02' }, total: { usd: '0.02' } },
  })
  expect(String(await rejectionOf(payingFetch(url(crypto))))).toContain('no space left')
  expect([service.presented.length, service.node.sent.length]).toEqual([0, 0])
  isFull = false
  expect((await payingFetch(url(crypto))).status).toBe(200)
})
