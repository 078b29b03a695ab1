import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keypairWallet } from '@tollbook/client/payerWallet'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { createPayingFetch } from '@tollbook/client/payingFetch'
import { verifyReceipt } from '@tollbook/client/verifyReceipt'
import { saleBody } from '@tollbook/core/wire'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { openPool } from '../kernel/openKernel.ts'
import { auditLedger } from '../support/ledgerFindings.ts'
import { ask, qrOrder } from '../support/ask.ts'
import { mppFetch } from '../support/mppClient.ts'
import { sampleDollar } from '../support/sampleDollar.ts'
import { openTestService } from '../support/testService.ts'
import { devnet, openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'

const finalSlots = 40
let x402: X402Service

beforeAll(async () => {
  x402 = await openX402Service({
    env: { CURRENCIES: 'usdc:minimum=0.001:split=provider:60+treasury:40', BURN_DEBT_MAX_TOKENS: '20' },
    dollars: sampleDollar(),
  })
})

const qr = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(qrOrder.body),
}
const urlOf = (path: string) => `${x402.service.baseUrl}${path}`

const accept = z.looseObject({ asset: z.string(), amount: z.string() })
const required = z.object({ accepts: z.array(accept) })

async function assetsOffered(): Promise<readonly string[]> {
  const { headers } = await fetch(urlOf(`/x402${qrOrder.path}`), qr)
  const text = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
  return required.parse(JSON.parse(text)).accepts.map(({ asset }) => asset)
}

/** The builder of the README of `@x402/fetch`, with the address of this chain. */
async function fetchOfReadme(): Promise<typeof fetch> {
  const signer = await createKeyPairSignerFromBytes(x402.service.demoWallet.secretKey)
  const client = new x402Client().register(
    'solana:*',
    new ExactSvmScheme(signer, { rpcUrl: x402.service.chain.rpcUrl }),
  )
  return wrapFetchWithPayment(fetch, client)
}

describe('a dollar in addition to the token', () => {
  test('is offered after the token by x402, on the network that clients know', async () => {
    expect(await assetsOffered()).toEqual([x402.tokenMint, sampleDollarMint])
    expect(devnet).toBe('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')
  })

  test('is what a stock client of x402 without options pays with', async () => {
    const response = await (await fetchOfReadme())(urlOf(`/x402${qrOrder.path}`), qr)
    expect(response.status, await response.clone().text()).toBe(200)
    const { receipt } = saleBody.parse(await response.json())
    // 0.005 USD; the same request costs 5 tokens, of which 1.5 are burned.
    expect(receipt).toMatchObject({
      requiredBaseUnits: '5000',
      burned: '0',
      currency: { mint: sampleDollarMint, decimals: 6, split: { provider: '60%', treasury: '40%' } },
      split: { burn: '30%' },
      tokenBurn: { mint: x402.tokenMint, baseUnits: '1500000', source: 'treasury' },
      distribution: { provider: '3000', treasury: '2000' },
    })
    expect(receipt).not.toHaveProperty('burnOwed')
    const keys = await (await fetch(urlOf('/.well-known/jwks.json'))).json()
    expect(await verifyReceipt({ receipt, keys })).toMatchObject({ valid: true })
  })

  test('is what a stock client of MPP without options pays with', async () => {
    const { service } = x402
    const paying = await mppFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl })
    const response = await paying(urlOf(qrOrder.path), {
      ...qr,
      headers: { ...qr.headers, 'accept-payment': 'solana/charge' },
    })
    expect(response.status, await response.clone().text()).toBe(200)
    expect(saleBody.parse(await response.json()).receipt).toMatchObject({ currency: { mint: sampleDollarMint } })
  })

  test('leaves the token to clients that opted in', async () => {
    const { service, tokenMint } = x402
    const paying = await stockFetch(service.demoWallet, { rpcUrl: service.chain.rpcUrl, asset: tokenMint })
    const response = await paying(urlOf(`/x402${qrOrder.path}`), qr)
    const { receipt } = saleBody.parse(await response.json())
    expect(receipt).toMatchObject({ requiredBaseUnits: '5000000', burnOwed: '1500000' })
    expect(receipt).not.toHaveProperty('currency')
  })

  test('changes no byte of the body that a client of the token reads', async () => {
    const { CURRENCIES: _currencies, ...env } = x402.env
    const ofToken = await openTestService({ besides: x402.native, env })
    const [withDollars, without] = await Promise.all([x402.service, ofToken].map((service) => ask(service, qrOrder)))
    const plain = (body: object | undefined) => {
      // Each answer has its own quote, and each instance its own price list.
      return JSON.stringify(body)
        .replaceAll(/"(id|memo|secret|expiresAt)":"[^"]*"/g, '"$1":""')
        .replace(/"priceList":\d+/, '"priceList":0')
    }
    expect(plain(withDollars?.body)).toBe(plain(without?.body))
  })

  test('is described by every document with its burn, and by no document of a service without it', async () => {
    const pages = ['/', '/docs', '/burn', `/pay${qrOrder.path}`]
    const documents = ['/api/catalog', '/openapi.json', '/llms.txt', '/.well-known/x402']
    const textOf = async ({ baseUrl }: Pick<X402Service['service'], 'baseUrl'>, path: string) => {
      const answer = await fetch(`${baseUrl}${path}`, { headers: { accept: 'text/html' } })
      return (await answer.text()).replaceAll(/<span class="mono">(.*?)<\/span>/g, '$1')
    }
    const described = `USDC (mint ${sampleDollarMint}, 6 decimals) pays by x402 and MPP to ${x402.paymentWallet} for prices from $0.001. 30% of the price is burned, in the token; the treasury delivers the tokens. The dollars go to provider (60%) and treasury (40%).`
    for (const path of [...pages, ...documents]) {
      expect([path, await textOf(x402.service, path)]).toEqual([path, expect.stringContaining(described)])
      expect(await textOf(x402.native, path)).not.toMatch(/<!-- dollars|treasury delivers|"(x-)?dollars"/)
    }
  })
})

describe('our client', () => {
  const start = (options: Partial<PayingFetchOptions>) =>
    createPayingFetch({
      wallet: keypairWallet(x402.service.demoWallet),
      rpcUrl: x402.service.chain.rpcUrl,
      expectedNetwork: devnet,
      protocols: ['x402', 'mpp'],
      dollarMints: 'circle',
      spendingLimit: { perRequest: { usd: '0.005' }, total: { usd: '0.012' } },
      ...options,
    })
  const orderOf = (data: string) => ({ ...qr, body: JSON.stringify({ data }) })

  test('pays in dollars within one limit over all of them', async () => {
    const paying = start({})
    for (const data of ['one', 'two']) {
      const response = await paying(urlOf(`/x402${qrOrder.path}`), orderOf(data))
      expect(saleBody.parse(await response.json()).receipt.currency?.mint).toBe(sampleDollarMint)
    }
    // 0.002 USD are left of the total.
    await expect(paying(urlOf(`/x402${qrOrder.path}`), orderOf('three'))).rejects.toMatchObject({
      code: 'SPENDING_LIMIT_EXCEEDED',
      unit: 'USD',
      asked: '0.005',
      allowed: '0.002',
    })
  })

  test('pays only in configured mints, and refuses limits that do not cover dollars', async () => {
    const other = start({ dollarMints: [x402.paymentWallet] })
    await expect(other(urlOf(`/x402${qrOrder.path}`), qr)).rejects.toMatchObject({ problem: 'other_mint' })
    expect(() => start({ spendingLimit: { perRequest: { baseUnits: 1n } } })).toThrow('in usd too')
    expect(() => start({ dollarMints: ['abc'] })).toThrow('not an address')
    expect(() => start({ expectedMint: sampleDollarMint })).toThrow('name each mint once')
  })
})

test('dollars are offered only while the treasury owes fewer tokens than is permitted', async () => {
  const paying = await fetchOfReadme()
  // Offers share a reading of the debt for a second, in which a quick machine buys more than the limit.
  const purchasesMax = 500
  const buyUntilClosed = async () => {
    for (let bought = 0; bought < purchasesMax; bought++) {
      const order = { ...qr, body: JSON.stringify({ data: `order ${bought}` }) }
      const answer = await paying(urlOf(`/x402${qrOrder.path}`), order).catch((error: unknown) => {
        // The client refuses an offer that names the token alone.
        expect(String(error)).toContain('only default assets')
        return undefined
      })
      // The reading may also turn between the offer and the payment, which is then not co-signed.
      if (answer === undefined || answer.status === 402 || answer.status === 503) return bought
      expect(answer.status, await answer.clone().text()).toBe(200)
    }
    return undefined
  }
  expect(await buyUntilClosed()).toBeLessThan(purchasesMax)
  expect(await assetsOffered()).toEqual([x402.tokenMint])
  const { rows } = await openPool(x402.service.database.adminUrl, 1).query<{ balance: string }>(
    "select balance::text from ledger.accounts where name = 'Assets:TokensToDeliver'",
  )
  // Thirteen promises of 1.5 tokens fit below 20; readings are a second old at most.
  expect(Number(rows[0]?.balance)).toBeGreaterThan(18_500_000)
})

test('the audit reads sales in dollars and finds nothing', async () => {
  const { service } = x402
  service.chain.advanceSlots(finalSlots)
  const { findings, verdicts } = await auditLedger(service.database.adminUrl, {
    rpcUrl: service.chain.rpcUrl,
    paymentWallet: x402.paymentWallet,
  })
  expect(findings).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
})
