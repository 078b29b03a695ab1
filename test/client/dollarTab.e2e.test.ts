import type { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openPaymentFolder } from '@tollbook/client/node'
import { keypairWallet } from '@tollbook/client/payerWallet'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { sampleDollar, walletWithDollars } from '../support/sampleDollar.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { devnet, openX402Service, type X402Service } from '../support/x402Service.ts'
import { payCommand } from '../../src/cli/pay.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { impatientClock } from './support/impatientClock.ts'

/* Tabs of our client in dollars. A QR code costs 0.4 USD, and the wallet of the payer has dollars and no token. */

let x402: X402Service
let wallet: Keypair

beforeAll(async () => {
  x402 = await openX402Service({
    env: { CURRENCIES: 'usdc', BURN_DEBT_MAX_TOKENS: '1000000', PRICES_USD: '/api/tools/qrcode=0.4' },
    dollars: sampleDollar(),
    sellsTabs: true,
  })
  wallet = await walletWithDollars(x402.service, 20_000_000n)
})

/** A paying fetch that counts the transactions that it signs. */
function payer(options: Partial<PayingFetchOptions> = {}): PayingFetch & { readonly signed: () => number } {
  const own = keypairWallet(wallet)
  let signed = 0
  const payingFetch = createPayingFetch({
    wallet: {
      ...own,
      signTransaction: (bytes) => {
        signed++
        return own.signTransaction(bytes)
      },
    },
    rpcUrl: x402.service.chain.rpcUrl,
    expectedNetwork: devnet,
    protocols: ['x402', 'mpp'],
    dollarMints: 'circle',
    spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '2' } },
    clock: impatientClock,
    tab: { depositUsd: 1 },
    ...options,
  })
  return Object.assign(payingFetch, { signed: () => signed })
}

const receiptBody = z.looseObject({ receipt: z.looseObject({ signature: z.string() }) })

async function buy(payingFetch: PayingFetch, data: string, prefix = '') {
  const init = { method: 'POST', body: JSON.stringify({ data }) }
  const response = await payingFetch(`${x402.service.baseUrl}${prefix}/api/tools/qrcode`, init)
  return receiptBody.parse(await response.json()).receipt
}

const onTab = {
  requiredBaseUnits: '400000',
  currency: { mint: sampleDollarMint, decimals: 6 },
  tab: { heldBaseUnits: '400000' },
}

describe.each(['x402', 'mpp'] as const)('a payer with dollars alone, by %s', (protocol) => {
  test('opens a tab in dollars, spends it without transactions, and gets its rest', async () => {
    const payingFetch = payer({ protocols: [protocol] })
    const [first, second] = [await buy(payingFetch, 'a'), await buy(payingFetch, 'b')]
    expect(payingFetch.signed()).toBe(1)
    expect(first).toMatchObject({ ...onTab, tokenBurn: { mint: x402.tokenMint, source: 'treasury' } })
    expect(second['signature']).toBe(first['signature'])
    const { baseUrl } = x402.service
    expect(await payingFetch.tabs.status(baseUrl)).toMatchObject({
      mint: sampleDollarMint,
      balanceBaseUnits: '200000',
    })
    expect(await payingFetch.tabs.close(baseUrl)).toMatchObject({ restBaseUnits: '200000' })
  })
})

test('a top-up is in the dollar of the tab, and counts against the limit over all dollars', async () => {
  const payingFetch = payer({ tab: { depositUsd: 1, topUp: true } })
  for (const data of ['a', 'b', 'c', 'd']) expect(await buy(payingFetch, data)).toMatchObject(onTab)
  expect(payingFetch.signed()).toBe(2)
  await buy(payingFetch, 'e')
  // Both deposits are 2 USD, so no third one is permitted. No offer of this path is in dollars.
  await expect(buy(payingFetch, 'f')).rejects.toMatchObject({ problem: 'other_mint' })
  expect(payingFetch.signed()).toBe(2)
})

test('requests at the same moment that need a top-up buy one deposit', async () => {
  const payingFetch = payer({
    tab: { depositUsd: 1, topUp: true },
    spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '9' } },
  })
  for (const data of ['a', 'b']) await buy(payingFetch, data)
  await Promise.all([buy(payingFetch, 'c'), buy(payingFetch, 'd')])
  expect(payingFetch.signed()).toBe(2)
  expect(await payingFetch.tabs.status(x402.service.baseUrl)).toMatchObject({ balanceBaseUnits: '400000' })
})

test('a service that cannot sell a tab at the moment is asked for one again by the next request', async () => {
  let isBusy = true
  const payingFetch = payer({
    fetch: (input, init) =>
      new Request(input).url.endsWith('/api/tabs') && isBusy
        ? Promise.resolve(Response.json({ error: 'a moment', code: 'UNAVAILABLE' }, { status: 503 }))
        : fetch(input, init),
  })
  // Without a tab nothing is bought, because no offer of this path is in dollars.
  await expect(buy(payingFetch, 'a')).rejects.toMatchObject({ problem: 'other_mint' })
  isBusy = false
  expect(await buy(payingFetch, 'b')).toMatchObject(onTab)
})

test('an opened tab is stored before its deposit is closed, so that a crash between them loses nothing', async () => {
  const store = openPaymentFolder(await makeScratchDirectory())
  const steps: string[] = []
  const payingFetch = payer({
    store: {
      ...store,
      async keepTab(name, text) {
        await store.keepTab?.(name, text)
        if (text?.includes('"opened"') === true) steps.push('tab stored')
      },
      close(payment, outcome) {
        steps.push(payment.isDeposit === true ? 'deposit closed' : 'debit closed')
        return store.close(payment, outcome)
      },
    },
  })
  await buy(payingFetch, 'a')
  expect(steps).toEqual(['tab stored', 'deposit closed', 'debit closed'])
})

test('a payer of the token whose wallet has dollars alone opens the tab in dollars', async () => {
  const expectedMint = x402.tokenMint
  const payingFetch = payer({ expectedMint, usdPerToken: '0.001' })
  expect(await buy(payingFetch, 'a')).toMatchObject(onTab)
  expect(await payingFetch.tabs.open(x402.service.baseUrl)).toMatchObject({ mint: sampleDollarMint })
})

test('a payer who pins the dollar as its token has its base units limited', async () => {
  const pinned = {
    expectedMint: sampleDollarMint,
    usdPerToken: '1',
    dollarMints: [],
    spendingLimit: { perRequest: { usd: '0.5', baseUnits: 500_000n }, total: { usd: '2', baseUnits: 2_000_000n } },
  }
  expect(await buy(payer(pinned), 'a')).toMatchObject(onTab)
  const strict = { ...pinned.spendingLimit, perRequest: { usd: '0.5', baseUnits: 399_999n } }
  await expect(buy(payer({ ...pinned, spendingLimit: strict }), 'a')).rejects.toMatchObject({
    code: 'SPENDING_LIMIT_EXCEEDED',
  })
  // A token whose worth is not stated as one dollar has no tab in dollars, so the request is paid by itself, if it is
  // offered.
  await expect(buy(payer({ ...pinned, usdPerToken: '2' }), 'a')).rejects.toMatchObject({ problem: 'other_mint' })
})

test('the path of x402 is paid by the same tab', async () => {
  const payingFetch = payer()
  const [first, second] = [await buy(payingFetch, 'a', '/x402'), await buy(payingFetch, 'b')]
  expect(first).toMatchObject(onTab)
  expect(second['signature']).toBe(first['signature'])
  expect(payingFetch.signed()).toBe(1)
})

test('a deposit whose answer is lost is presented again, and a later process goes on with its tab', async () => {
  const folder = await makeScratchDirectory()
  let lost = 0
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const isDeposit = new Headers(init?.headers).has('payment-signature')
    if (!isDeposit || lost++ > 1) return answer
    throw new TypeError('the answer is lost')
  }
  const store = openPaymentFolder(folder)
  const first = payer({ fetch: losing, store })
  const bought = await buy(first, 'a')
  expect([first.signed(), lost]).toEqual([1, 3])
  const later = payer({ store: openPaymentFolder(folder) })
  expect((await buy(later, 'b'))['signature']).toBe(bought['signature'])
  expect(later.signed()).toBe(0)
})

test('tollbook pay tab open pays in dollars from a wallet without the token', async () => {
  const terminal = await openTerminal()
  const keypairPath = await terminal.writeFile('key.json', [...wallet.secretKey])
  const { baseUrl, chain } = x402.service
  const demoWallet = { address: wallet.publicKey.toBase58(), keypairPath }
  const { tokenMint, paymentWallet } = x402
  await terminal.writeFile('local.json', { baseUrl, rpcUrl: chain.rpcUrl, tokenMint, paymentWallet, demoWallet })
  const tab = async (...words: string[]) => {
    const { stdout, stderr } = await terminal.run(payCommand, 'tab', ...words)
    return z.looseObject({}).parse(JSON.parse(stdout === '' ? JSON.stringify({ stderr }) : stdout))
  }
  expect(await tab('open')).toMatchObject({ mint: sampleDollarMint, balanceBaseUnits: '1000000' })
  expect(await tab('close')).toMatchObject({ restBaseUnits: '1000000' })
  expect(await tab('open', '--mint', tokenMint)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
})
