import { cp, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { beforeAll, expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { PaymentUnresolved } from '@tollbook/client/paymentError'
import type { PaymentProgress } from '@tollbook/client/paymentProgress'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { saleBody } from '@tollbook/core/wire'
import { mintOf } from '../agent/support/agentFolder.ts'
import { giveFunds } from '../../src/cli/local/giveFunds.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { impatientClock } from './support/impatientClock.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { payCommand } from '../../src/cli/pay.ts'
import { rejectionOf } from './support/payerScene.ts'

let service: TestService

beforeAll(async () => {
  service = await openTestService({
    sellsTabs: true,
    env: { TAB_MAX_USD: '10', TABS_TOTAL_MAX_USD: '1000', PRICES_USD: '/api/tools/qrcode=0.4' },
  })
})

const qrBaseUnits = 400_000_000n

/** A paying fetch that counts the transactions that it signs. */
function payer(options: Partial<PayingFetchOptions> = {}): PayingFetch & { readonly signed: () => number } {
  const wallet = keypairWallet(service.demoWallet)
  let signed = 0
  const payingFetch = createPayingFetch({
    wallet: {
      ...wallet,
      signTransaction: (bytes) => {
        signed++
        return wallet.signTransaction(bytes)
      },
    },
    rpcUrl: service.chain.rpcUrl,
    expectedMint: service.mint,
    spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '2' } },
    clock: impatientClock,
    tab: { depositUsd: 1 },
    ...options,
  })
  return Object.assign(payingFetch, { signed: () => signed })
}

const buy = async (payingFetch: PayingFetch, data = 'hello') => {
  const init = { method: 'POST', body: JSON.stringify({ data }) }
  const response = await payingFetch(`${service.baseUrl}/api/tools/qrcode`, init)
  return z.looseObject({ receipt: z.looseObject({}) }).parse(await response.json()).receipt
}

test('one deposit pays for requests without a transaction, and closing it returns the rest', async () => {
  const payingFetch = payer()
  const [first, second] = [await buy(payingFetch, 'a'), await buy(payingFetch, 'b')]
  expect(payingFetch.signed()).toBe(1)
  expect(first['signature']).toBe(second['signature'])
  const keys: unknown = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
  expect(await verifyReceipt({ receipt: first, keys })).toMatchObject({ valid: true })
  const rest = (1_000_000_000n - 2n * qrBaseUnits).toString()
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ state: 'open', balanceBaseUnits: rest })

  // The rest is less than the price, so the request is paid by itself.
  expect((await buy(payingFetch, 'c'))['signature']).not.toBe(first['signature'])
  expect(payingFetch.signed()).toBe(2)
  expect(await payingFetch.tabs.close(service.baseUrl)).toMatchObject({ restBaseUnits: rest })
  expect(await payingFetch.tabs.status(service.baseUrl)).toBeUndefined()
})

/** Counts requests for a QR code, without and with a proof. `urlOf` sends them to another place. */
function counting(urlOf: (url: string) => string = (url) => url) {
  const sent = { unpaid: 0, paid: 0 }
  const counted: typeof fetch = (input, init) => {
    const { url } = new Request(input)
    if (url.endsWith('qrcode')) sent[new Headers(init?.headers).has('x-payment-proof') ? 'paid' : 'unpaid']++
    return fetch(urlOf(url), init)
  }
  return { sent, fetch: counted }
}

test('a request whose price is known is debited at once, without a request for the price', async () => {
  const { sent, fetch: counted } = counting()
  const payingFetch = payer({ fetch: counted })
  await buy(payingFetch, 'a')
  await buy(payingFetch, 'b')
  expect(sent).toEqual({ unpaid: 1, paid: 2 })
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '200000000' })
})

test('a price is known for ten minutes, and is asked for afterwards', async () => {
  const { sent, fetch: counted } = counting()
  let aheadMs = 0
  const clock = { ...impatientClock, monotonicMs: () => aheadMs }
  const payingFetch = payer({ fetch: counted, clock })
  await buy(payingFetch, 'a')
  aheadMs = 10 * 60_000
  await buy(payingFetch, 'b')
  expect(sent).toEqual({ unpaid: 2, paid: 2 })
})

test('a price that rose is asked for again, and a risen price above the limit is not paid', async () => {
  const at = (usd: string, besides?: TestService) =>
    openTestService({
      sellsTabs: true,
      env: { PRICES_USD: `/api/tools/qrcode=${usd}` },
      ...(besides === undefined ? {} : { besides }),
    })
  const first = await at('0.1')
  let current = first
  const { sent, fetch: counted } = counting((url) => url.replace(first.baseUrl, current.baseUrl))
  const payingFetch = payer({
    wallet: keypairWallet(first.demoWallet),
    rpcUrl: first.chain.rpcUrl,
    expectedMint: first.mint,
    fetch: counted,
    spendingLimit: { perRequest: { usd: '0.25' }, total: { usd: '2' } },
  })
  const buyHere = async (data: string) => {
    const response = await payingFetch(`${first.baseUrl}/api/tools/qrcode`, {
      method: 'POST',
      body: JSON.stringify({ data }),
    })
    return saleBody.parse(await response.json()).receipt.requiredBaseUnits
  }
  expect(await buyHere('a')).toBe('100000000')
  current = await at('0.2', first)
  expect(await buyHere('b')).toBe('200000000')
  expect(await buyHere('c')).toBe('200000000')
  expect(sent).toEqual({ unpaid: 2, paid: 4 })
  current = await at('0.3', current)
  expect(await rejectionOf(buyHere('d'))).toMatchObject({ name: 'SpendingLimitExceeded', scope: 'per request' })
  expect(await payingFetch.tabs.status(first.baseUrl)).toMatchObject({ balanceBaseUnits: '500000000' })
})

test('a request that the service refuses is answered as without a tab, and leaves nothing open', async () => {
  const store = openPaymentFolder(join(await makeScratchDirectory(), 'payments'))
  const payingFetch = payer({ store })
  await buy(payingFetch)
  const response = await payingFetch(`${service.baseUrl}/api/tools/qrcode`, { method: 'POST', body: '{"data":""}' })
  expect(response.status).toBe(400)
  expect(await store.pending()).toEqual([])
})

test('a top-up buys one more deposit when the tab holds too little, and the limits count it', async () => {
  const payingFetch = payer({ tab: { depositUsd: 1, topUp: true } })
  for (const data of ['1', '2', '3', '4', '5']) await buy(payingFetch, data)
  expect(payingFetch.signed()).toBe(2)
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '0' })
  // Two deposits reached the limit in total.
  expect(await rejectionOf(buy(payingFetch, '6'))).toMatchObject({ name: 'SpendingLimitExceeded' })
  expect(payingFetch.signed()).toBe(2)
})

test('requests at the same moment open one tab', async () => {
  const payingFetch = payer()
  const receipts = await Promise.all([buy(payingFetch, 'a'), buy(payingFetch, 'b')])
  expect(new Set(receipts.map((receipt) => receipt['signature'])).size).toBe(1)
  expect(payingFetch.signed()).toBe(1)
})

test('a limit refuses a deposit above it, and the request is paid by itself', async () => {
  const payingFetch = payer({ spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '0.9' } } })
  await buy(payingFetch)
  expect(payingFetch.signed()).toBe(1)
  expect(await payingFetch.tabs.status(service.baseUrl)).toBeUndefined()
  expect(await rejectionOf(payingFetch.tabs.open(service.baseUrl))).toMatchObject({ name: 'SpendingLimitExceeded' })
})

test('limits that do not bound deposits are refused', () => {
  expect(() => payer({ spendingLimit: { perRequest: { usd: '0.5' } } })).toThrow('perDay, perHost or total')
  const baseUnits = 500_000_000n
  const inTokens = { perRequest: { usd: '0.5', baseUnits }, total: { usd: '2' } }
  expect(() => payer({ expectedMint: service.demoWallet.publicKey.toBase58(), spendingLimit: inTokens })).toThrow(
    'in baseUnits',
  )
})

test('a price above the limit per request is not debited', async () => {
  const payingFetch = payer({ spendingLimit: { perRequest: { usd: '0.3' }, total: { usd: '5' } } })
  expect(await rejectionOf(buy(payingFetch))).toMatchObject({ name: 'SpendingLimitExceeded', scope: 'per request' })
  expect(payingFetch.signed()).toBe(0)
})

test('a lost answer is asked for again with the same number, and charged once', async () => {
  let lost = 0
  const lossy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const isDebit = new Headers(init?.headers).has('x-payment-proof') && new Request(input).url.endsWith('qrcode')
    if (!isDebit || lost === 2) return response
    await response.text()
    lost++
    throw new TypeError('connection lost')
  }
  const payingFetch = payer({ fetch: lossy })
  await buy(payingFetch)
  expect(lost).toBe(2)
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '600000000' })
})

test('a refusal that follows a lost answer is thrown, because the lost request may still be charged', async () => {
  let answered = 0
  const payingFetch = payer({
    fetch: async (input, init) => {
      const isDebit = new Headers(init?.headers).has('x-payment-proof') && new Request(input).url.endsWith('qrcode')
      if (!isDebit) return fetch(input, init)
      if (++answered === 1) throw new TypeError('connection lost')
      return Response.json({ error: 'closed', code: 'INVALID_PAYMENT', reason: 'tab_closed' }, { status: 402 })
    },
  })
  expect(await rejectionOf(buy(payingFetch))).toMatchObject({ name: 'PaymentRefused', reason: 'tab_closed' })
  // Only the deposit of the tab was signed, and no payment of the request itself.
  expect([answered, payingFetch.signed()]).toEqual([2, 1])
})

test('a process that dies after the deposit, or in a debit, goes on with the same tab and number', async () => {
  const folder = join(await makeScratchDirectory(), 'payments')
  const openPayer = (isDead: (url: string) => boolean) =>
    payer({
      store: openPaymentFolder(folder),
      retry: { attemptsMax: 1 },
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        if (!new Headers(init?.headers).has('x-payment-proof') || !isDead(new Request(input).url)) return response
        throw new TypeError('the process is dead')
      },
    })
  const opening = openPayer((url) => url.endsWith('/api/tabs'))
  await rejectionOf(buy(opening))
  const debiting = openPayer((url) => url.endsWith('qrcode'))
  await rejectionOf(buy(debiting))
  const last = openPayer(() => false)
  const receipt = await buy(last)
  expect([opening, debiting, last].map(({ signed }) => signed())).toEqual([1, 0, 0])
  expect(await last.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '600000000' })
  expect(saleBody.shape.receipt.parse(receipt).requiredBaseUnits).toBe(qrBaseUnits.toString())

  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  expect(files).toHaveLength(1)
  const path = join(folder, files[0] ?? '')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ format: 'tollbook-tab-1', isClosed: false })
})

test('a wallet that holds less than a deposit pays the request by itself', async () => {
  const poor = Keypair.generate()
  const mint = await mintOf(service.baseUrl)
  const options = { rpcUrl: service.chain.rpcUrl, mint, mintAuthority: service.mintAuthority }
  await giveFunds(options, { address: poor.publicKey.toBase58(), tokens: '500', sol: '1' })
  await buy(payer({ wallet: keypairWallet(poor) }))
})

test('a deposit that counts more than its size is not made, and the request is paid by itself', async () => {
  const mint = await mintOf(service.baseUrl)
  // The payer says that a token is worth more than the service states.
  const limits = { perRequest: { usd: '0.5' }, total: { usd: '9' } }
  const payingFetch = payer({ expectedMint: mint, usdPerToken: '0.0012', spendingLimit: limits })
  await buy(payingFetch)
  expect(await payingFetch.tabs.status(service.baseUrl)).toBeUndefined()
})

test('a caller can stop a debit and its deposit at the price', async () => {
  const stop = (event: PaymentProgress) => {
    if (event.kind === 'debiting') throw new Error(`not for ${event.cost.baseUnits}`)
  }
  const payingFetch = payer({ onEvent: stop })
  await expect(buy(payingFetch)).rejects.toThrow(`not for ${qrBaseUnits}`)
  expect(payingFetch.signed()).toBe(0)
})

test('a service without tabs is paid for each request', async () => {
  const plain = await openTestService({ env: { PRICES_USD: '/api/tools/qrcode=0.1' } })
  const own = { wallet: keypairWallet(plain.demoWallet), rpcUrl: plain.chain.rpcUrl, expectedMint: plain.mint }
  const payingFetch = payer(own)
  const response = await payingFetch(`${plain.baseUrl}/api/tools/qrcode`, { method: 'POST', body: '{"data":"x"}' })
  expect(response.status).toBe(200)
})

test('a deposit that was resumed by its caller is not paid again', async () => {
  const store = openPaymentFolder(join(await makeScratchDirectory(), 'payments'))
  const dead = payer({
    store,
    retry: { attemptsMax: 1 },
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (new Headers(init?.headers).has('x-payment-proof')) throw new TypeError('the process is dead')
      return response
    },
  })
  const error = await rejectionOf(buy(dead))
  if (!(error instanceof PaymentUnresolved)) throw error
  const later = payer({ store })
  expect((await later.resume(error.payment)).status).toBe(200)
  await buy(later)
  expect([dead.signed(), later.signed()]).toEqual([1, 0])
  expect(await later.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '600000000' })
})

test('a deposit without an outcome is not paid again while it may land, and its key is kept', async () => {
  let isDead = true
  const payingFetch = payer({
    retry: { attemptsMax: 1 },
    fetch: (input, init) =>
      isDead && new Headers(init?.headers).has('x-payment-proof')
        ? Promise.reject(new TypeError('no route'))
        : fetch(input, init),
  })
  const error = await rejectionOf(buy(payingFetch))
  if (!(error instanceof PaymentUnresolved)) throw error
  isDead = false
  expect((await buy(payingFetch))['requiredBaseUnits']).toBe(qrBaseUnits.toString())
  await expect(payingFetch.tabs.open(service.baseUrl)).rejects.toThrow('an earlier deposit has no outcome yet')
  // The deposit and the request by itself.
  expect(payingFetch.signed()).toBe(2)
  await payingFetch.resume(error.payment)
  expect(await payingFetch.tabs.open(service.baseUrl)).toMatchObject({ balanceBaseUnits: '1000000000' })
  expect(payingFetch.signed()).toBe(2)
})

test('a top-up without an outcome is not paid again while it may land', async () => {
  let isDead = false
  const payingFetch = payer({
    spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '9' } },
    tab: { depositUsd: 1, topUp: true },
    retry: { attemptsMax: 1 },
    fetch: (input, init) =>
      isDead && new Request(input).url.endsWith('/api/tabs') && new Headers(init?.headers).has('x-payment-proof')
        ? Promise.reject(new TypeError('no route'))
        : fetch(input, init),
  })
  for (const data of ['1', '2']) await buy(payingFetch, data)
  isDead = true
  const error = await rejectionOf(buy(payingFetch, '3'))
  if (!(error instanceof PaymentUnresolved)) throw error
  // The request is paid by itself.
  for (const data of ['3', '4']) await buy(payingFetch, data)
  expect(payingFetch.signed()).toBe(4)
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '200000000' })
  isDead = false
  await payingFetch.resume(error.payment)
  await buy(payingFetch, '5')
  expect(payingFetch.signed()).toBe(4)
})

test('a tab that was closed elsewhere is not debited or replaced, and requests are paid by themselves', async () => {
  const [folder, copy] = [join(await makeScratchDirectory(), 'a'), join(await makeScratchDirectory(), 'b')]
  const payingFetch = payer({ store: openPaymentFolder(folder) })
  await buy(payingFetch, '1')
  await cp(folder, copy, { recursive: true })
  await payer({ store: openPaymentFolder(copy) }).tabs.close(service.baseUrl)
  await buy(payingFetch, '2')
  await buy(payingFetch, '3')
  expect(payingFetch.signed()).toBe(3)
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ state: 'closed' })
})

test('tollbook pay tab opens, shows and closes a tab, and names what is missing', async () => {
  const terminal = await openTerminal()
  const wallet = await terminal.writeFile('key.json', [...service.demoWallet.secretKey])
  const flags = ['--base-url', service.baseUrl, '--rpc-url', service.chain.rpcUrl, '--wallet', wallet]
  const tab = (...words: string[]) => terminal.run(payCommand, 'tab', ...words)
  expect(await tab('status', ...flags)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('has no open tab'),
  })
  expect(await tab('open', ...flags, '--deposit-usd', '3')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('must be 1, 5, 10 or 20 (got 3)'),
  })
  expect(await tab('shut', ...flags)).toMatchObject({ exitCode: 2 })
  expect(await tab('open')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--base-url') })
  const mintless = await tab('open', ...flags)
  expect(mintless).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--mint: is missing') })
  const opened = await tab('open', ...flags, '--mint', service.mint)
  expect([opened.exitCode, JSON.parse(opened.stdout)]).toMatchObject([0, { balanceBaseUnits: '1000000000' }])
  const again = await tab('open', ...flags, '--mint', service.mint)
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(opened.stdout))
  const closed = await tab('close', ...flags)
  expect([closed.exitCode, JSON.parse(closed.stdout)]).toMatchObject([0, { restBaseUnits: '1000000000' }])
  expect(await tab('--help')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('open|status|close') })
})
