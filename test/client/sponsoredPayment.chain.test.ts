import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { PaymentUnresolved } from '@tollbook/client/paymentError'
import type { PayingFetch } from '@tollbook/client/payingFetch'
import { sponsoredProtocols } from '@tollbook/client/sponsored/sponsoredOffer'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { rejectionOf } from './support/payerScene.ts'
import { costBaseUnits, openSponsoredScene, type SponsoredScene } from './support/sponsoredScene.ts'
import {
  type Misdeed,
  type OfferChange,
  type SponsoredServer,
  startSponsoredServer,
} from './support/sponsoredServer.ts'
import { openSponsoredTools, toolCall } from './support/sponsoredTools.ts'
import { openStockMpp, openStockX402 } from './support/stockServers.ts'
import { createVirtualClock } from './support/virtualClock.ts'

/* Services that are not Tollbook, over HTTP and as tools of MCP, on the local chain. */

let scene: SponsoredScene
beforeAll(async () => {
  scene = await openSponsoredScene()
})

test.each([
  ['@x402/express', () => openStockX402(scene.token, scene.feePayer, String(costBaseUnits))],
  ['mppx and @solana/mpp', () => openStockMpp(scene.token, scene.feePayer, String(costBaseUnits))],
] as const)('an unmodified server of %s is paid once and answers', async (_name, open) => {
  const { url } = await open()
  const payingFetch = scene.start(join(await makeScratchDirectory(), 'payments'))
  const { outcome, payments } = await scene.countPayments(() => payingFetch(url))
  expect([outcome.status, await outcome.json(), payments]).toEqual([200, { bought: true }, 1n])
})

const places = ['HTTP', 'a tool'] as const
const ways = sponsoredProtocols.flatMap((protocol) => places.map((place) => [protocol, place] as const))

describe.each(ways)('a hostile server of %s, over %s', (protocol, place) => {
  interface Visit {
    readonly server: SponsoredServer
    readonly url: string
    readonly init: RequestInit
    begin(options?: Partial<PayingFetchOptions>): PayingFetch
  }

  async function visit(misdeeds: Misdeed[], change: OfferChange = {}): Promise<Visit> {
    const server = await startSponsoredServer(scene.token, protocol, scene.feePayer)
    const { url } = place === 'HTTP' ? server : await openSponsoredTools(server.url)
    const folder = join(await makeScratchDirectory(), 'payments')
    const clock = createVirtualClock()
    Object.assign(server, { misdeeds, change, onHang: () => clock.expire() })
    const init = place === 'HTTP' ? {} : toolCall()
    return { server, url, init, begin: (options) => scene.start(folder, { clock, ...options }) }
  }

  test.each([[['hang']], [['reset', 'answer 502']]] as Misdeed[][][])(
    'that settles and then does %j is shown the same payment again',
    async (misdeeds) => {
      const { server, url, init, begin } = await visit([...misdeeds])
      const { outcome, payments } = await scene.countPayments(() => begin()(url, init))
      expect([outcome.status, payments, new Set(server.payments).size]).toEqual([200, 1n, 1])
    },
  )

  test.each<Misdeed>(['ask again for ten times as much', 'redirect', 'refuse', 'deliver without a receipt'])(
    'that settles and then does "%s" is not paid again, not even by a later process',
    async (misdeed) => {
      const { server, url, init, begin } = await visit([misdeed, misdeed])
      const other = await startSponsoredServer(scene.token, protocol, scene.feePayer)
      server.redirectTo = other.url
      const { payments } = await scene.countPayments(async () => {
        for (const process of [begin(), begin()])
          expect(await rejectionOf(process(url, init))).toBeInstanceOf(PaymentUnresolved)
        expect((await begin()(url, init)).status).toBe(200)
      })
      expect([payments, new Set(server.payments).size, other.payments.length]).toEqual([1n, 1, 0])
    },
  )

  test.skipIf(place === 'a tool')(
    'that streams its answer for as long as it likes is heard to the end, and is not asked again',
    async () => {
      const { server, url, init, begin } = await visit(['begin a stream'])
      const { outcome, payments } = await scene.countPayments(async () => {
        const response = await begin()(url, init)
        server.endStream()
        return response.text()
      })
      expect([outcome, payments, server.payments.length]).toEqual(['data: 1\n\ndata: 2\n\n', 1n, 1])
    },
  )

  const stranger = Keypair.generate().publicKey.toBase58()
  test.each([
    ['another mint', { mint: stranger }, { name: 'QuoteRefused', problem: 'other_mint' }],
    ['another network', { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, { problem: 'other_network' }],
    ['a recipient without a token account', { payTo: stranger }, { problem: 'token_account_missing' }],
    ['a higher price than the limit', { amount: '20000001' }, { name: 'SpendingLimitExceeded' }],
  ])('that offers %s is refused before anything is signed', async (_name, change, error) => {
    const { server, url, init, begin } = await visit([], change)
    const { outcome, payments } = await scene.countPayments(() => rejectionOf(begin()(url, init)))
    expect(outcome).toMatchObject(error)
    expect([payments, server.payments.length]).toEqual([0n, 0])
  })

  test('that offers another payment wallet than the expected one is refused before anything is signed', async () => {
    const { server, url, init, begin } = await visit([])
    const refused = begin({ expectedPaymentWallet: stranger })(url, init)
    expect(await rejectionOf(refused)).toMatchObject({ name: 'QuoteRefused', problem: 'other_payment_wallet' })
    expect(server.payments).toHaveLength(0)
    const own = begin({ expectedPaymentWallet: scene.token.paymentWallet.toBase58() })
    expect((await own(url, init)).status).toBe(200)
  })

  test('that makes the payer its fee payer is refused before anything is signed', async () => {
    const { server, url, init, begin } = await visit([], { feePayer: scene.token.payer.publicKey.toBase58() })
    expect(await rejectionOf(begin()(url, init))).toMatchObject({ problem: 'malformed' })
    expect(server.payments).toHaveLength(0)
  })
})

test('a 402 of another protocol is returned as it came to a caller who did not ask for these protocols', async () => {
  const server = await startSponsoredServer(scene.token, 'x402', scene.feePayer)
  const payingFetch = scene.start(join(await makeScratchDirectory(), 'payments'), { protocols: [] })
  expect((await payingFetch(server.url)).status).toBe(402)
  const usd = { perRequest: { usd: '1', baseUnits: 1n }, total: { usd: '1' } }
  expect(() => scene.start('unused', { spendingLimit: usd })).toThrow('give each spending limit in baseUnits too')
})
