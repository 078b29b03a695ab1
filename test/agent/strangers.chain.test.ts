import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { walletFolder } from '@tollbook/agent/walletFolder'
import type { QuoteBody } from '@tollbook/core/wire'
import { afterFile } from '../support/afterFile.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { makeAgentFolder, writePolicy } from './support/agentFolder.ts'
import { type AttackedWallet, openAttackedWallet } from './support/attackedWallet.ts'
import { paidTo, type Reaction, scaled, thief, x402Offer } from './support/maliciousService.ts'
import { openWindow, type ToolAnswer } from './support/mcpWindow.ts'

/* Attacks in addition to the table of injections: races, files, spellings and sizes. The wallet has signed nothing after each. */

let scene: AttackedWallet
const honest = (quote: QuoteBody): Reaction => ({ body: quote })

beforeAll(async () => {
  scene = await openAttackedWallet()
})

beforeEach(() => {
  scene.service.reaction = honest
})

const url = () => `${scene.service.url}/api/data/crypto?symbol=BTC`
const pay = (given: Record<string, unknown> = {}) => scene.window.call('pay_and_fetch', { url: url(), ...given })
const refusedAs = ({ texts }: ToolAnswer) => /"refused":"(\w+)"/.exec(texts[0] ?? '')?.[1]

describe('an amount', () => {
  test.each([
    '1e7',
    '-5',
    '0',
    '0x10',
    ' 5',
    '5.0',
    '+5',
    '18446744073709551616',
    '٣',
    20_000_000,
    1e21,
    null,
    '9'.repeat(400),
  ])('of x402 that is %j is not an offer', async (amount) => {
    scene.service.reaction = (quote) => x402Offer(quote, { amount })
    expect(JSON.parse((await pay()).texts[0] ?? '')).toEqual({ status: 402, paid: 'nothing was paid' })
    await scene.expectNothingPaid()
  })

  test.each(['1e7', '-20000000', '0x1312D00', '020000000', ' 20000000', '2e7'])(
    'of our quote that is %j is refused',
    async (text) => {
      scene.service.reaction = (quote) => ({ body: { ...quote, quote: { ...quote.quote, requiredBaseUnits: text } } })
      expect(refusedAs(await pay())).toBe('OFFER_REFUSED')
      await scene.expectNothingPaid()
    },
  )

  test.each([
    ['a price of 1e308', { priceUSD: 1e308 }],
    ['a price of 1e-30', { priceUSD: 1e-30 }],
    ['a token of 1e308', { tokenPrice: 1e308 }],
    ['a token of 1e-308', { tokenPrice: 1e-308 }],
    ['a negative token', { tokenPrice: -0.001 }],
  ])('with %s is refused', async (_name, change) => {
    scene.service.reaction = (quote) => ({ body: { ...quote, pricing: { ...quote.pricing, ...change } } })
    expect(refusedAs(await pay())).toMatch(/^(OFFER_REFUSED|LIMIT_REACHED)$/)
    await scene.expectNothingPaid()
  })

  test('beyond every number of JSON is refused', async () => {
    scene.service.reaction = (quote) => ({ body: JSON.stringify(quote).replace('"priceUSD":0.02', '"priceUSD":1e999') })
    expect(refusedAs(await pay())).toBe('OFFER_REFUSED')
    await scene.expectNothingPaid()
  })
})

describe('two mints', () => {
  test('in one offer, the listed one for a thief, pay no one', async () => {
    scene.service.reaction = (quote) => x402Offer(quote, { asset: thief }, { payTo: thief, amount: '1' }, {})
    expect(refusedAs(await pay())).toBe('RECIPIENT_NOT_LISTED')
    await scene.expectNothingPaid()
  })

  test('of which the unlisted one has the symbol of the listed one pay nothing', async () => {
    scene.service.reaction = (quote) => ({
      body: { ...paidTo({ ...quote, tokenMint: thief }, quote.paymentWallet), tokenSymbol: 'TOLL' },
    })
    expect(refusedAs(await pay())).toBe('OFFER_REFUSED')
    await scene.expectNothingPaid()
  })
})

describe('a spelling', () => {
  const port = () => new URL(scene.service.url).port

  test.each([
    ['localhost', 'localhost'],
    ['localhost with a dot', 'localhost.'],
    ['upper case of localhost', 'LOCALHOST'],
    ['zero', '0'],
    ['all addresses', '0.0.0.0'],
    ['another loopback address', '127.0.0.2'],
    ['the unspecified IPv6 address', '[::]'],
    ['the compatible IPv6 address', '[::127.0.0.1]'],
    ['a member of every object', 'constructor'],
    ['the prototype of every object', '__proto__'],
    ['punycode', 'xn--127-0-0-1-8h6h.example'],
    ['a name that begins with the address', '127.0.0.1.nip.io'],
  ])('of the host that is %s reaches nothing', async (_name, host) => {
    const before = scene.service.asked.length
    expect(refusedAs(await pay({ url: `http://${host}:${port()}/` }))).toMatch(/^(HOST_NOT_LISTED|URL_REFUSED)$/)
    expect(scene.service.asked.length).toBe(before)
  })

  test.each(['HTTP://127.0.0.1', 'http://127.1', 'http://0x7f.0.0.1', 'http://127.0.0.1.', 'http://%31%32%37.0.0.1'])(
    'that the parser reads as the listed host is that host, such as %s',
    async (origin) => {
      scene.service.reaction = () => ({ status: 200, body: 'ok' })
      await pay({ url: `${origin}:${port()}/spelled` })
      expect(scene.service.asked.at(-1)).toMatchObject({ path: '/spelled', headers: { host: scene.service.host } })
    },
  )

  test('of a listed public host without TLS is refused', async () => {
    const hosts = { ...scene.policy.hosts, 'api.example.com': {} }
    await writePolicy(scene.folder, { ...scene.policy, hosts })
    expect(refusedAs(await pay({ url: 'http://api.example.com/' }))).toBe('URL_REFUSED')
    expect(refusedAs(await pay({ url: 'https://api.example.com./' }))).toBe('HOST_NOT_LISTED')
    await writePolicy(scene.folder, scene.policy)
    await scene.expectNothingPaid()
  })
})

describe('a race', () => {
  test('of a stricter policy and an offer that is already asked for is won by the policy', async () => {
    for (const limits of [{ perRequestUsd: '0.001' }, { perRequestUsd: '0.05', perDayUsd: '0.01' }]) {
      scene.service.reaction = (quote) => {
        writeFileSync(scene.folder.policy, JSON.stringify({ ...scene.policy, limits }))
        return { body: quote }
      }
      expect(refusedAs(await pay())).toBe('PAYMENT_NOT_SENT')
      await writePolicy(scene.folder, scene.policy)
    }
    await scene.expectNothingPaid()
  })

  test('of a broken policy and an offer is won by the policy', async () => {
    scene.service.reaction = (quote) => {
      writeFileSync(scene.folder.policy, '{')
      return { body: quote }
    }
    expect(refusedAs(await pay())).toBe('POLICY_INVALID')
    await writePolicy(scene.folder, scene.policy)
    await scene.expectNothingPaid()
  })

  test('of a person who agrees late and a host that left the policy is won by the policy', async () => {
    scene.service.reaction = (quote) => ({ body: scaled(quote, 2n, 'price in dollars') })
    const asking = await openWindow(scene.wallet, {
      onAsked: async () => {
        await writePolicy(scene.folder, { ...scene.policy, hosts: {} })
        return true
      },
    })
    expect(refusedAs(await asking.call('pay_and_fetch', { url: url() }))).toBe('HOST_NOT_LISTED')
    await writePolicy(scene.folder, scene.policy)
    await scene.expectNothingPaid()
  })

  test('of a person who agrees and a price that rises is lost by the price', async () => {
    scene.service.reaction = (quote) => ({ body: scaled(quote, 2n, 'price in dollars') })
    const asked: string[] = []
    const asking = await openWindow(scene.wallet, {
      onAsked: (message) => {
        scene.service.reaction = (quote) => ({ body: scaled(quote, 5n, 'price in dollars') })
        return asked.push(message) === 1
      },
    })
    expect(refusedAs(await asking.call('pay_and_fetch', { url: url() }))).toBe('LIMIT_REACHED')
    expect(asked).toHaveLength(1)
    await scene.expectNothingPaid()
  })

  test('of four processes for one folder has one winner, also through a link', async () => {
    const folder = await makeAgentFolder(scene.token.payer.secretKey, scene.policy)
    const link = `${await makeScratchDirectory()}/link`
    await symlink(folder.path, link)
    const started = await Promise.all(
      [folder, walletFolder(link), folder, walletFolder(link)].map((each) =>
        startWallet({ folder: each, report: () => undefined }),
      ),
    )
    for (const each of started) afterFile(each.close)
    expect(started.filter(({ server }) => server !== undefined)).toHaveLength(1)
  })
})

describe('a file', () => {
  test('of the policy that is a link into a folder of everyone is refused', async () => {
    const open = `${await makeScratchDirectory()}/open`
    await mkdir(open)
    await chmod(open, 0o777)
    await writeFile(`${open}/policy.json`, JSON.stringify(scene.policy), { mode: 0o600 })
    await rename(scene.folder.policy, `${scene.folder.policy}.own`)
    await symlink(`${open}/policy.json`, scene.folder.policy)
    expect(refusedAs(await pay())).toBe('POLICY_INVALID')
    await rm(scene.folder.policy)
    await rename(`${scene.folder.policy}.own`, scene.folder.policy)
    await scene.expectNothingPaid()
  })

  test('of the payments that cannot be written stops the payment before it leaves', async () => {
    const { payments } = scene.folder
    const before = scene.service.asked.length
    await rename(payments, `${payments}.own`).catch(() => undefined)
    await writeFile(payments, '')
    expect((await pay()).isError).toBe(true)
    expect(scene.service.asked.slice(before).filter(({ headers }) => 'x-payment-proof' in headers)).toEqual([])
    await rm(payments)
    await rename(`${payments}.own`, payments).catch(() => undefined)
    await scene.expectNothingPaid()
  })
})

const chunk = Buffer.alloc(1024 * 1024, 'x')
const sent = { bytes: 0, isClosed: false }

/** Writes up to 1 GB, as fast as the other side reads. */
async function flood(response: ServerResponse): Promise<void> {
  response.once('close', () => (sent.isClosed = true))
  for (let n = 0; n < 1024 && !response.destroyed; n++) {
    sent.bytes += chunk.length
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  response.end()
}

describe('an answer', () => {
  test.each([200, 402, 500])('of 1 GB with status %i is left after some megabytes', async (status) => {
    sent.bytes = 0
    scene.service.reaction = () => ({ status, write: (response) => void flood(response) })
    expect((await pay()).isError).toBe(true)
    expect(sent.bytes).toBeLessThan(64 * 1024 * 1024)
    await scene.expectNothingPaid()
  })

  test('of 64 MB in a few packed bytes is left too', async () => {
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    scene.service.reaction = () => ({
      headers: { 'content-encoding': 'gzip' },
      write: (response) => void response.end(packed),
    })
    expect((await pay()).isError).toBe(true)
    await scene.expectNothingPaid()
  })
})

describe('after the signature', () => {
  const proofs = () => scene.service.asked.flatMap(({ headers }) => headers['x-payment-proof'] ?? [])

  test('a redirect gets no proof at its target, and the same request pays nothing again', async () => {
    const elsewhere = await openLoopbackServer((_asked, response) => void response.end('{}'))
    scene.service.reaction = (quote, { headers }) =>
      'x-payment-proof' in headers
        ? { status: 307, headers: { location: `${elsewhere.url}/api/data/crypto` } }
        : { body: quote }
    expect(refusedAs(await pay())).toBe('PAYMENT_UNRESOLVED')
    expect(refusedAs(await pay())).toBe('PAYMENT_UNRESOLVED')
    expect(elsewhere.asked).toEqual([])
    expect(new Set(proofs()).size).toBe(1)
  })

  test('a paid answer of 1 GB is read once', async () => {
    const order = { url: `${url()}&long=1` }
    sent.bytes = 0
    scene.service.reaction = (quote, { headers }) =>
      'x-payment-proof' in headers ? { status: 200, write: (response) => void flood(response) } : { body: quote }
    expect(refusedAs(await pay(order))).toBe('PAYMENT_UNRESOLVED')
    expect(sent.bytes).toBeLessThan(64 * 1024 * 1024)
  })

  test('a wallet that ends while the service holds the answer makes no second payment', async () => {
    const order = { url: `${url()}&held=1` }
    const { promise: held, resolve } = Promise.withResolvers<ServerResponse>()
    const before = proofs().length
    scene.service.reaction = (quote, { headers }) =>
      'x-payment-proof' in headers ? { write: resolve } : { body: quote }
    const first = pay(order)
    const response = await held
    await scene.started.close()
    scene.service.reaction = (quote, { headers }) =>
      'x-payment-proof' in headers ? { status: 307, headers: { location: '/' } } : { body: quote }
    // The end of a process breaks its connections. This one goes on in the process of the test.
    response.destroy()
    const again = await startWallet({ folder: scene.folder, report: () => undefined })
    afterFile(again.close)
    expect(refusedAs(await first)).toBe('PAYMENT_UNRESOLVED')
    expect(new Set(proofs().slice(before)).size).toBe(1)
  })
})
