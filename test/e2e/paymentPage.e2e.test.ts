import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Connection, Keypair, VersionedTransaction } from '@solana/web3.js'
import type { Browser } from 'puppeteer'
import { z } from 'zod'
import { toBase64Url } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import { registerTestWallet } from '../proofs/browser/testWallet.ts'
import { openBrowser } from '../proofs/finance/openBrowser.ts'
import { ask, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openTestService, type TestService } from '../support/testService.ts'

const tokenSource = 'https://exchange.example/toll'
let service: TestService
let browser: Browser
let end: () => Promise<void>

beforeAll(async () => {
  service = await openTestService({ env: { TOKEN_SYMBOL: 'TOLL', TOKEN_SOURCE_URL: tokenSource } })
  ;({ browser, end } = await openBrowser())
})
afterAll(() => end())

const person = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('pages, 402, catalog and the page for language models name the token, its mint and where to get it', async () => {
  const { baseUrl, payer } = service
  const { tokenMint } = (await ask(service, qrOrder)).body
  const addresses = [
    ['/', { accept: 'text/html' }],
    ['/pay/api/tools/qrcode', {}],
    ['/llms.txt', {}],
    ['/api/catalog', {}],
    ['/api/data/crypto?symbol=BTC', { 'x-wallet-address': payer.address }],
  ] as const
  for (const [path, headers] of addresses) {
    const text = await (await fetch(baseUrl + path, { headers })).text()
    for (const part of ['TOLL', String(tokenMint), tokenSource]) expect(text, path).toContain(part)
  }
})

describe('a person who opens the address of a product', () => {
  const get = (path: string, headers: Record<string, string>) => fetch(`${service.baseUrl}${path}`, { headers })

  test('gets a 402 with a page, and a program what it got before the page', async () => {
    const path = '/api/data/crypto?symbol=BTC'
    const page = await get(path, person)
    expect([page.status, page.headers.get('content-type')]).toEqual([402, 'text/html; charset=utf-8'])
    expect(page.headers.get('cache-control')).toBe('no-store')
    for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }, { ...person, 'x-payment-proof': 'AAAA' }])
      expect((await get(path, headers)).headers.get('content-type')).toContain('json')
    const quote = await get(path, { ...person, 'x-wallet-address': service.payer.address })
    expect([402, 503]).toContain(quote.status)
    expect(quote.headers.get('content-type')).toContain('json')
  })

  test('is refused a transaction for an account or a digest that cannot be one', async () => {
    const digest = toBase64Url(sha256('secret'))
    const prepare = (segment: string, body: object) =>
      fetch(`${service.baseUrl}/pay/api/tools/qrcode/${segment}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    for (const [segment, body, status] of [
      [digest, {}, 400],
      [digest, { account: 'not an address' }, 400],
      ['short', { account: service.payer.address }, 404],
      [digest, { account: service.payer.address }, 200],
    ] as const)
      expect((await prepare(segment, body)).status, JSON.stringify(body)).toBe(status)
    expect((await fetch(`${service.baseUrl}/pay/payment/${digest}`)).status).toBe(404)
    expect((await fetch(`${service.baseUrl}/pay/test-wallet/${service.payer.address}`)).status).toBe(404)
  })
})

test('a wallet on a phone signs and sends the transaction, and the page finds the payment by its digest', async () => {
  const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(16)))
  const address = `${service.baseUrl}/pay/api/tools/qrcode/${toBase64Url(sha256(secret))}`
  expect(await (await fetch(address)).json()).toMatchObject({ label: 'Tollbook' })
  const body = JSON.stringify({ account: service.payer.address })
  const headers = { 'content-type': 'application/json' }
  const { transaction } = prepared.parse(await (await fetch(address, { method: 'POST', headers, body })).json())
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([service.demoWallet])
  await new Connection(service.chain.rpcUrl, 'confirmed').sendRawTransaction(signed.serialize())

  let found: z.infer<typeof payment> | undefined
  await awaitThat('the payment is found', async () => {
    const response = await fetch(address.replace('/api/tools/qrcode/', '/payment/'))
    found = response.ok ? payment.parse(await response.json()) : undefined
    return found !== undefined
  })
  expect(found?.data.wallet).toBe(service.payer.address)
  const proof = Buffer.from(JSON.stringify({ signature: found?.data.signature, secret })).toString('base64')
  expect((await ask(service, { ...qrOrder, proof })).status).toBe(200)
})

const prepared = z.object({ transaction: z.string() })
const payment = z.object({ data: z.object({ signature: z.string(), wallet: z.string() }) })

test('a wallet of the browser buys an answer, and the page verifies its receipt', async () => {
  const page = await browser.newPage()
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(service.baseUrl) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  const { secretKey } = service.demoWallet
  await registerTestWallet(page, { address: service.payer.address, secretKey })
  await page.goto(`${service.baseUrl}/pay/api/tools/qrcode`)
  const wallet = await page.waitForSelector('#wallets button')
  await wallet?.click()
  await page.waitForSelector('#answer:not([hidden])')
  const checks = await page.$$eval('#checks li', (items) => items.map(({ className }) => className))
  expect(checks).toEqual(['holds', 'holds', 'holds'])
  expect(await page.$eval('#data img', ({ src }) => src)).toMatch(/^data:image\/png;base64,/)
  expect(await page.$eval('#receipt', (list) => list.textContent)).toContain(service.payer.address)
  expect([foreign, errors]).toEqual([[], []])
})

test('a wallet of the browser that cannot pay reads why, and is not asked to sign', async () => {
  const page = await browser.newPage()
  const { publicKey, secretKey } = Keypair.generate()
  await registerTestWallet(page, { address: publicKey.toBase58(), secretKey })
  await page.goto(`${service.baseUrl}/pay/api/tools/qrcode`)
  const wallet = await page.waitForSelector('#wallets button')
  await wallet?.click()
  await page.waitForSelector('#status.problem')
  const text = await page.$eval('#status', (status) => status.textContent)
  expect(text).toMatch(
    /^you have 0 of 5 TOLL \(mint \w+, available at \S+\); you have 0 SOL and need about 0\.00001 SOL/,
  )
  expect(await page.evaluate('localStorage.length')).toBe(0)
  await page.close()
})

describe('pages at 375 px', () => {
  test.each(['/', '/docs', '/pay/api/tools/pdf'])('%s is not wider than the window', async (path) => {
    const page = await browser.newPage()
    await page.setViewport({ width: 375, height: 800 })
    await page.goto(`${service.baseUrl}${path}`, { waitUntil: 'load' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    // A bar in a cell must not begin another cell.
    const uneven = `[...document.querySelectorAll('table')].flatMap((table) => [...table.rows]
      .filter(({ cells }) => cells.length !== table.rows[0].cells.length).map(({ textContent }) => textContent))`
    expect(await page.evaluate(uneven)).toEqual([])
    await page.close()
  })
})

test.each([320, 600, 1280])('at %i px a figure of seven cards is one line, with all its digits', async (width) => {
  const page = await browser.newPage()
  await page.setViewport({ width, height: 800 })
  await page.goto(`${service.baseUrl}/burn`, { waitUntil: 'load' })
  const lines = `{
    const cards = document.querySelector('.cards')
    cards.innerHTML = '<div><dt>Burned</dt><dd>1,234,567,890.123456</dd></div>'.repeat(7)
    const range = document.createRange()
    range.selectNodeContents(cards.querySelector('dd'))
    range.getClientRects().length
  }`
  expect(await page.evaluate(lines)).toBe(1)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  await page.close()
})
