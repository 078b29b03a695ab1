import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decodeBase58 } from '@tollbook/core/base58'
import { toBase64Url } from '@tollbook/core/bytes'
import { sha256 } from '@tollbook/core/digest'
import {
  account,
  ended,
  endpoint,
  lastSigned,
  openPayPage,
  paid,
  quote,
  receipt,
  receipts,
  sale,
  type Service,
  signed,
  signTransaction,
  statusOf,
  wallet,
} from './dom/openPayPage.ts'

const ofOtherWallet = await receipts.sign({ wallet: '11111111111111111111111111111111' })
const ofOtherEndpoint = await receipts.sign({ endpoint: '/api/data/other' })

test('only a wallet that signs transactions of version 0 is offered, with its name as text', async () => {
  const page = await openPayPage()
  expect(page.textsOf('#wallets button')).toEqual(['Pay with Test & Wallet'])
  expect(page.isShown('#no-wallet')).toBe(false)
  expect(page.textOf('#tokens')).toBe('20 TOLL now')
})

test('a wallet that announces itself later is offered too', async () => {
  const page = await openPayPage()
  const features = {
    'standard:connect': { connect: () => undefined },
    'solana:signTransaction': { supportedTransactionVersions: [0], signTransaction },
  }
  const detail = (api: { register: (wallet: object) => void }) => api.register({ name: 'Late', icon: '', features })
  page.window.dispatchEvent(new page.window.CustomEvent('wallet-standard:register-wallet', { detail }))
  expect(page.textsOf('#wallets button')).toEqual(['Pay with Test & Wallet', 'Pay with Late'])
})

test('the page says why its product is not for sale, and that phones need https', async () => {
  const unavailable = { path: endpoint, requiredTokens: null, available: false, reason: 'no provider answers' }
  const page = await openPayPage({
    catalog: [{ path: '/api/other', requiredTokens: 1 }, unavailable],
    url: `http://host/pay${endpoint}`,
  })
  expect([statusOf(page), page.textOf('#tokens')]).toEqual(['Not for sale now: no provider answers.', ''])
  expect(page.textOf('#phone-note')).toContain('this address has none')
})

test('a page whose price cannot be read says so, and still offers its wallets and an earlier payment', async () => {
  const page = await openPayPage({ catalog: 'lost', stored: {} })
  expect(statusOf(page)).toContain('Failed to fetch')
  expect([page.textsOf('#wallets button').length, page.isShown('#stored')]).toEqual([1, true])
})

test('a payment of another product is not taken for one of this page', async () => {
  const page = await openPayPage({ stored: {}, storedFor: '/api/tools/qrcode' })
  expect(page.isShown('#stored')).toBe(false)
})

describe('a purchase with a wallet of the browser', () => {
  test('is stored before the proof leaves, and is forgotten with its answer', async () => {
    const page = await openPayPage()
    page.click('#wallets button')
    await paid(page)
    const [proof] = page.proofs()
    const stored: unknown = JSON.parse(Object.values(proof?.stored ?? {})[0] ?? 'null')
    expect(stored).toMatchObject({ wallet, proof: proof?.headers.get('x-payment-proof') })
    expect(proof?.headers.get('idempotency-key')).toMatch(/^\S{20,}$/)
    expect(page.storedNow()).toBeNull()
    expect(page.isShown('#stored')).toBe(false)
  })

  test('presents the transaction that the account signed, with the secret of its digest', async () => {
    const page = await openPayPage()
    page.click('#wallets button')
    await paid(page)
    expect(lastSigned.input).toMatchObject({ account, chain: 'solana:mainnet', transaction: { 0: 1, 1: 2, 2: 3 } })
    const text = Buffer.from(page.proofs()[0]?.headers.get('x-payment-proof') ?? '', 'base64').toString()
    const { transaction, secret } = z.object({ transaction: z.string(), secret: z.string() }).parse(JSON.parse(text))
    expect(Buffer.from(transaction, 'base64')).toEqual(Buffer.from(signed))
    const prepared = page.asked.find(({ method, path }) => method === 'POST' && path.startsWith('/pay/'))
    expect(prepared?.path).toBe(`/pay${endpoint}/${toBase64Url(sha256(secret))}`)
    expect(prepared?.body).toEqual({ account: wallet })
  })

  test('asks for the price with the order and the wallet before anything is signed', async () => {
    const page = await openPayPage()
    page.click('#wallets button')
    await paid(page)
    const [first, second] = page.asked.filter(({ path }) => path !== '/api/catalog')
    expect([first?.path, first?.headers.get('x-wallet-address'), first?.query.toString()]).toEqual([
      endpoint,
      wallet,
      page.proofs()[0]?.query.toString(),
    ])
    expect(first?.headers.get('accept')).toBe('application/json')
    expect(second?.path).toContain(`/pay${endpoint}/`)
  })

  test('shows the receipt that the client package has verified, with its proof of inclusion', async () => {
    const page = await openPayPage()
    page.click('#wallets button')
    await paid(page)
    expect(statusOf(page)).toBe('Paid. The receipt is verified.')
    expect(page.textsOf('#checks .holds').length).toBeGreaterThan(2)
    expect(page.textsOf('#receipt dd')).toContain(receipt['signature'])
    expect(page.window.document.querySelector('#receipt a')?.getAttribute('href')).toBe(
      'https://host/api/ledger/inclusion/8',
    )
  })

  test('shows bought pictures as pictures, documents as a link, and long texts cut', async () => {
    const qrCode = `data:image/png;base64,${'A'.repeat(100)}`
    const data = {
      qrCode,
      imageUrl: 'https://host/artifacts/a.png',
      pdfUrl: 'https://host/artifacts/b.pdf',
      text: '<b>',
    }
    const page = await openPayPage({ answers: [{ json: { data, receipt } }] })
    page.click('#wallets button')
    await paid(page)
    const { document } = page.window
    const sources = [...document.querySelectorAll('#data img')].map((picture) => picture.getAttribute('src'))
    expect(sources).toEqual([qrCode, data.imageUrl])
    expect(document.querySelector('#data a')?.getAttribute('href')).toBe(data.pdfUrl)
    expect(page.textOf('#data pre')).toContain(`"qrCode": "${qrCode.slice(0, 40)}…"`)
    expect(page.textOf('#data pre')).toContain('"text": "<b>"')
    expect(page.textsOf('#receipt a')).toEqual([])
  })

  test('shows no file of another site, to which a text of the answer may lead', async () => {
    const data = { found: 'https://evil.example/artifacts/a.pdf', icon: 'https://host.evil.example/artifacts/b.png' }
    const page = await openPayPage({ answers: [{ json: { data, receipt } }] })
    page.click('#wallets button')
    await paid(page)
    expect(page.window.document.querySelectorAll('#data a, #data img')).toHaveLength(0)
    expect(page.textOf('#data pre')).toContain(data.found)
  })

  test('of a streamed answer fetches its receipt from the address in the header', async () => {
    const answer = { json: { delta: 'Hi' }, headers: { 'receipt-location': '/api/receipts/solana:x' } }
    const page = await openPayPage({ answers: [answer] })
    page.click('#wallets button')
    await paid(page)
    expect(statusOf(page)).toBe('Paid. The receipt is verified.')
    expect(page.textOf('#data pre')).toContain('"delta": "Hi"')
    expect(page.textsOf('#receipt a')).toEqual(['proof that the ledger has it'])
  })

  test('of a streamed answer asks again for a receipt that cannot be read at the moment', async () => {
    let asked = 0
    const page = await openPayPage({
      answers: [{ json: { delta: 'Hi' }, headers: { 'receipt-location': '/api/receipts/solana:x' } }],
      streamReceipt: () =>
        ++asked === 1
          ? { status: 503, json: { error: 'the ledger did not answer' } }
          : { json: { data: { receipt, inclusionProof: null } } },
    })
    page.click('#wallets button')
    await paid(page)
    expect([asked, page.proofs().length, statusOf(page)]).toEqual([2, 1, 'Paid. The receipt is verified.'])
  })

  test('that is streamed as events is shown as its text, with the receipt at the address in the header', async () => {
    const headers = { 'content-type': 'text/event-stream', 'receipt-location': '/api/receipts/solana:x' }
    const page = await openPayPage({ answers: [{ json: 'data: Hi', headers }] })
    page.click('#wallets button')
    await paid(page)
    expect(statusOf(page)).toBe('Paid. The receipt is verified.')
    expect(page.textOf('#data pre')).toContain('data: Hi')
  })

  test.each([
    ['altered', { ...receipt, requiredTokens: 1 }],
    ['of another wallet', ofOtherWallet],
    ['of another endpoint', ofOtherEndpoint],
  ])('says that a receipt does not verify when it is %s', async (_, sold) => {
    const page = await openPayPage({ answers: [sale(sold)] })
    page.click('#wallets button')
    await paid(page)
    expect(statusOf(page)).toBe('Paid. The receipt does not verify: keep it.')
    expect([page.textsOf('#checks .holds'), page.textsOf('#checks .broken').length]).toEqual([[], 1])
  })
})

describe('an answer that is not the purchase', () => {
  test.each([500, 503, 429, 409, 408])(
    '%i is asked again with the same proof and key, and loses nothing',
    async (status) => {
      const page = await openPayPage({
        answers: [{ status, headers: { 'retry-after': '7' }, json: { error: 'later' } }, sale()],
      })
      page.click('#wallets button')
      await paid(page)
      const [first, second] = page
        .proofs()
        .map(({ headers }) => [headers.get('x-payment-proof'), headers.get('idempotency-key')])
      expect([second, page.proofs().length]).toEqual([first, 2])
      expect(page.waitsMs).toEqual([7_000])
    },
  )

  test('a broken connection and a payment that is not on chain yet are asked again', async () => {
    const page = await openPayPage({
      answers: ['lost', { status: 402, json: { error: 'wait', reason: 'not_found' } }, sale()],
    })
    page.click('#wallets button')
    await paid(page)
    expect([page.proofs().length, page.waitsMs]).toEqual([3, [1_000, 1_000]])
  })

  test('a service that fails on and on leaves the payment stored, with a way to ask again', async () => {
    const page = await openPayPage({ answers: [{ status: 500, json: { error: 'broken' } }] })
    page.click('#wallets button')
    await ended(page)
    expect(statusOf(page)).toContain('Do not pay again')
    expect(page.storedNow()).not.toBeNull()
    expect([page.isShown('#stored'), page.proofs().length]).toEqual([true, 20])
  })

  test('a refused payment is forgotten, and its reason is shown', async () => {
    const page = await openPayPage({
      answers: [
        { status: 402, json: { error: 'already used', code: 'INVALID_PAYMENT', reason: 'already_used' } },
        sale(),
      ],
    })
    page.click('#wallets button')
    await ended(page)
    expect([statusOf(page), page.storedNow(), page.proofs().length]).toEqual(['already used', null, 1])
    page.click('#wallets button')
    await paid(page)
    expect(page.window.document.querySelector('#status.problem')).toBeNull()
  })

  test('an item that does not exist keeps the payment, which is still valid', async () => {
    const page = await openPayPage({ answers: [{ status: 404, json: { error: 'no such city', code: 'NO_DATA' } }] })
    page.click('#wallets button')
    await ended(page)
    expect(statusOf(page)).toBe('no such city')
    expect(page.storedNow()).not.toBeNull()
  })

  test('a payment of an earlier visit is presented again as it was', async () => {
    const stored = { order: { symbol: 'ETH' }, wallet, proof: 'cHJvb2Y=', key: 'earlier' }
    const page = await openPayPage({ stored })
    expect(page.isShown('#stored')).toBe(true)
    page.click('#resume')
    await paid(page)
    const [proof] = page.proofs()
    expect([
      proof?.query.get('symbol'),
      proof?.headers.get('x-payment-proof'),
      proof?.headers.get('idempotency-key'),
    ]).toEqual(['ETH', 'cHJvb2Y=', 'earlier'])
    expect(page.storedNow()).toBeNull()
  })
})

describe('nothing is signed or stored when', () => {
  test.each<readonly [string, Service, string]>([
    ['a parameter is wrong', { quoted: { status: 400, json: { error: 'symbol: is unknown' } } }, 'symbol: is unknown'],
    [
      'the error has the form of OpenAI',
      { quoted: { status: 400, json: { error: { message: 'no model' } } } },
      'no model',
    ],
    [
      'the wallet has too little',
      { prepared: { status: 402, json: { error: 'you have 0 of 20' } } },
      'you have 0 of 20',
    ],
    ['the price is of another endpoint', { quoted: quote('/v1/other') }, 'This page does not sell /v1/other.'],
  ])('%s', async (_, service, words) => {
    lastSigned.input = undefined
    const page = await openPayPage(service)
    page.click('#wallets button')
    await ended(page)
    expect(statusOf(page)).toContain(words)
    expect([lastSigned.input, page.storedNow(), page.proofs()]).toEqual([undefined, null, []])
    // The next attempt is possible.
    expect(page.window.document.querySelector('#wallets button')?.hasAttribute('disabled')).toBe(false)
  })
})

test('one purchase runs at a time', async () => {
  const page = await openPayPage()
  page.click('#wallets button')
  expect(page.window.document.querySelector('#wallets button')?.hasAttribute('disabled')).toBe(true)
  await paid(page)
})

test('a phone pays for the digest of its code, and the page presents the signature with the secret', async () => {
  const page = await openPayPage()
  const details = page.window.document.querySelector('#phone')
  Object.assign(details ?? {}, { open: true })
  await paid(page)
  const code = page.window.document.querySelector('#qr img')?.getAttribute('src') ?? ''
  const proof = Buffer.from(page.proofs()[0]?.headers.get('x-payment-proof') ?? '', 'base64').toString()
  const { signature, secret } = z.object({ signature: z.string(), secret: z.string() }).parse(JSON.parse(proof))
  expect(signature).toBe('sent')
  expect(code).toBe(`https://host/pay${endpoint}/${toBase64Url(sha256(secret))}?qr`)
  expect(page.asked.map(({ path }) => path)).toContain(`/pay/payment/${toBase64Url(sha256(secret))}`)
})

test('the page stops waiting for a phone when its code is closed', async () => {
  let polls = 0
  const page = await openPayPage({
    found() {
      if (++polls === 3) Object.assign(page.window.document.querySelector('#phone') ?? {}, { open: false })
      return { status: 404, json: { error: 'not yet' } }
    },
  })
  Object.assign(page.window.document.querySelector('#phone') ?? {}, { open: true })
  await ended(page)
  expect([polls, statusOf(page)]).toEqual([
    3,
    'No payment has arrived. If your phone has paid, open the code again to look for the payment.',
  ])
  const price = page.asked.find(({ path }) => path === endpoint)
  expect(price?.headers.get('x-wallet-address')).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
})

test('the test wallet of local mode is funded once, and signs the message after the place of its signature', async () => {
  const message = Uint8Array.from([1, ...Array.from({ length: 64 }, () => 0), 42, 43])
  const prepared = { json: { transaction: Buffer.from(message).toString('base64') } }
  const page = await openPayPage({ hasTestWallet: true, prepared, answers: [{ status: 402, json: { error: 'no' } }] })
  page.click('#test-wallet')
  await ended(page)
  page.click('#test-wallet')
  await page.until('two payments', () => page.proofs().length === 2)
  const funded = page.asked.filter(({ path }) => path.startsWith('/pay/test-wallet/'))
  expect(funded).toHaveLength(1)
  const proof = Buffer.from(page.proofs()[0]?.headers.get('x-payment-proof') ?? '', 'base64').toString()
  const { transaction } = z.object({ transaction: z.string() }).parse(JSON.parse(proof))
  const bytes = Buffer.from(transaction, 'base64')
  expect([bytes[0], bytes.subarray(65)]).toEqual([1, Buffer.from([42, 43])])
  const publicKey = decodeBase58(funded[0]?.path.split('/').at(-1) ?? '', 32) ?? new Uint8Array()
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(publicKey), 'Ed25519', false, ['verify'])
  expect(await crypto.subtle.verify('Ed25519', key, bytes.subarray(1, 65), Uint8Array.from([42, 43]))).toBe(true)
})

test('a test wallet that could not be funded is funded at the next click', async () => {
  let asked = 0
  const page = await openPayPage({
    hasTestWallet: true,
    funded: () => (++asked === 1 ? { status: 503, json: { error: 'no validator' } } : { json: { success: true } }),
    prepared: { json: { transaction: Buffer.alloc(66, 1).toString('base64') } },
  })
  page.click('#test-wallet')
  await ended(page)
  expect([statusOf(page), page.proofs().length]).toEqual(['no validator', 0])
  page.click('#test-wallet')
  await page.until('a payment', () => page.proofs().length === 1)
})

test('the order has the fields that are filled in, as their types, and without those that have their default', async () => {
  const path = '/api/tools/pdf'
  const page = await openPayPage({ path, url: `https://host/pay${path}?html=from+the+address`, quoted: quote(path) })
  const set = (name: string, values: object) =>
    Object.assign(page.window.document.querySelector(`[name="${name}"]`) ?? {}, values)
  set('scale', { value: '1.5' })
  set('margin.top', { value: '1cm' })
  set('margin.left', { value: '2cm' })
  set('landscape', { checked: true })
  set('printBackground', { checked: false })
  set('url', { value: '' })
  page.click('#wallets button')
  await paid(page)
  expect(page.proofs()[0]?.body).toMatchObject({
    html: 'from the address',
    scale: 1.5,
    margin: { top: '1cm', left: '2cm' },
    landscape: true,
    printBackground: false,
  })
  for (const name of ['url', 'outline', 'preferCSSPageSize']) expect(page.proofs()[0]?.body).not.toHaveProperty(name)
})

test('a name with a dot or a percent sign stays the name of one parameter', async () => {
  const path = '/api/tools/pdf'
  const text = z.string()
  const parameters = z.object({ 'page.size': text, 'a%2Eb': text, range: z.object({ 'from.day': text }) })
  const page = await openPayPage({ path, parameters, url: `https://host/pay${path}`, quoted: quote(path) })
  const fields = [...page.window.document.querySelectorAll('#order [name]')]
  for (const [index, field] of fields.entries()) Object.assign(field, { value: String(index) })
  expect(page.textOf('#order')).toMatch(/page\.size.*a%2Eb.*range.*from\.day/s)
  page.click('#wallets button')
  await paid(page)
  expect(page.proofs()[0]?.body).toEqual({ 'page.size': '0', 'a%2Eb': '1', range: { 'from.day': '2' } })
})
