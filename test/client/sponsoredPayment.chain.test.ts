import { join } from 'node:path'
import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { giveFunds } from '../../src/cli/local/giveFunds.ts'
import { openPaymentFolder } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { PaymentUnresolved } from '@tollbook/client/paymentError'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { sponsoredProtocols } from '@tollbook/client/sponsored/sponsoredOffer'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { rejectionOf } from './support/payerScene.ts'
import {
  devnet,
  type Misdeed,
  type OfferChange,
  type SponsoredServer,
  startSponsoredServer,
} from './support/sponsoredServer.ts'
import { openStockMpp, openStockX402 } from './support/stockServers.ts'
import { openTokenChain, type TokenChain } from './support/tokenChain.ts'
import { createVirtualClock } from './support/virtualClock.ts'

/* Services that are not Tollbook, over HTTP, on the local chain. The balance of the payer tells how many payments there were. */

const costBaseUnits = 20_000_000n
let token: TokenChain
const feePayer = Keypair.generate()

beforeAll(async () => {
  token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const options = { rpcUrl: token.chain.rpcUrl, mint: token.mint.toBase58(), mintAuthority: token.mintAuthority }
  // These services have a token account. A payment by these protocols never creates one.
  await giveFunds(options, { address: token.paymentWallet.toBase58(), tokens: '1', sol: '0' })
  await giveFunds(options, { address: feePayer.publicKey.toBase58(), tokens: '0', sol: '1' })
})

function start(folder: string, options: Partial<PayingFetchOptions> = {}): PayingFetch {
  return createPayingFetch({
    wallet: keypairWallet(token.payer),
    rpcUrl: token.chain.rpcUrl,
    protocols: sponsoredProtocols,
    expectedMint: token.mint.toBase58(),
    // The services call the local chain devnet, as their stock libraries know no other.
    expectedNetwork: devnet,
    spendingLimit: { perRequest: { baseUnits: costBaseUnits } },
    store: openPaymentFolder(folder),
    ...options,
  })
}

async function heldBaseUnits(): Promise<bigint> {
  const { connection, payer, mint } = token
  const { value } = await connection.getTokenAccountsByOwner(payer.publicKey, { mint }, 'confirmed')
  return value.reduce((sum, { account }) => sum + account.data.readBigUInt64LE(64), 0n)
}

async function countPayments<T>(work: () => Promise<T>): Promise<{ readonly outcome: T; readonly payments: bigint }> {
  const before = await heldBaseUnits()
  const outcome = await work()
  return { outcome, payments: (before - (await heldBaseUnits())) / costBaseUnits }
}

test.each([
  ['@x402/express', () => openStockX402(token, feePayer, String(costBaseUnits))],
  ['mppx and @solana/mpp', () => openStockMpp(token, feePayer, String(costBaseUnits))],
] as const)('an unmodified server of %s is paid once and answers', async (_name, open) => {
  const { url } = await open()
  const payingFetch = start(join(await makeScratchDirectory(), 'payments'))
  const { outcome, payments } = await countPayments(() => payingFetch(url))
  expect([outcome.status, await outcome.json(), payments]).toEqual([200, { bought: true }, 1n])
})

describe.each(sponsoredProtocols)('a hostile server of %s', (protocol) => {
  interface Visit {
    readonly server: SponsoredServer
    begin(options?: Partial<PayingFetchOptions>): PayingFetch
  }

  async function visit(misdeeds: Misdeed[], change: OfferChange = {}): Promise<Visit> {
    const server = await startSponsoredServer(token, protocol, feePayer)
    const folder = join(await makeScratchDirectory(), 'payments')
    const clock = createVirtualClock()
    Object.assign(server, { misdeeds, change, onHang: () => clock.expire() })
    return { server, begin: (options) => start(folder, { clock, ...options }) }
  }

  test.each([[['hang']], [['reset', 'answer 502']]] as Misdeed[][][])(
    'that settles and then does %j is shown the same payment again',
    async (misdeeds) => {
      const { server, begin } = await visit([...misdeeds])
      const { outcome, payments } = await countPayments(() => begin()(server.url))
      expect([outcome.status, payments, new Set(server.payments).size]).toEqual([200, 1n, 1])
    },
  )

  test.each<Misdeed>(['ask again for ten times as much', 'redirect', 'refuse', 'deliver without a receipt'])(
    'that settles and then does "%s" is not paid again, not even by a later process',
    async (misdeed) => {
      const { server, begin } = await visit([misdeed, misdeed])
      const other = await startSponsoredServer(token, protocol, feePayer)
      server.redirectTo = other.url
      const { payments } = await countPayments(async () => {
        for (const process of [begin(), begin()])
          expect(await rejectionOf(process(server.url))).toBeInstanceOf(PaymentUnresolved)
        expect((await begin()(server.url)).status).toBe(200)
      })
      expect([payments, new Set(server.payments).size, other.payments.length]).toEqual([1n, 1, 0])
    },
  )

  test('that streams its answer for as long as it likes is heard to the end, and is not asked again', async () => {
    const { server, begin } = await visit(['begin a stream'])
    const { outcome, payments } = await countPayments(async () => {
      const response = await begin()(server.url)
      server.endStream()
      return response.text()
    })
    expect([outcome, payments, server.payments.length]).toEqual(['data: 1\n\ndata: 2\n\n', 1n, 1])
  })

  const stranger = Keypair.generate().publicKey.toBase58()
  test.each([
    ['another mint', { mint: stranger }, { name: 'QuoteRefused', problem: 'other_mint' }],
    ['another network', { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, { problem: 'other_network' }],
    ['a recipient without a token account', { payTo: stranger }, { problem: 'token_account_missing' }],
    ['a higher price than the limit', { amount: '20000001' }, { name: 'SpendingLimitExceeded' }],
  ])('that offers %s is refused before anything is signed', async (_name, change, error) => {
    const { server, begin } = await visit([], change)
    const { outcome, payments } = await countPayments(() => rejectionOf(begin()(server.url)))
    expect(outcome).toMatchObject(error)
    expect([payments, server.payments.length]).toEqual([0n, 0])
  })

  test('that offers another payment wallet than the expected one is refused before anything is signed', async () => {
    const { server, begin } = await visit([])
    const refused = begin({ expectedPaymentWallet: stranger })(server.url)
    expect(await rejectionOf(refused)).toMatchObject({ name: 'QuoteRefused', problem: 'other_payment_wallet' })
    expect(server.payments).toHaveLength(0)
    const own = begin({ expectedPaymentWallet: token.paymentWallet.toBase58() })
    expect((await own(server.url)).status).toBe(200)
  })

  test('that makes the payer its fee payer is refused before anything is signed', async () => {
    const { server, begin } = await visit([], { feePayer: token.payer.publicKey.toBase58() })
    expect(await rejectionOf(begin()(server.url))).toMatchObject({ problem: 'malformed' })
    expect(server.payments).toHaveLength(0)
  })
})

test('a 402 of another protocol is returned as it came to a caller who did not ask for these protocols', async () => {
  const server = await startSponsoredServer(token, 'x402', feePayer)
  const payingFetch = start(join(await makeScratchDirectory(), 'payments'), { protocols: [] })
  expect((await payingFetch(server.url)).status).toBe(402)
  const usd = { perRequest: { usd: '1', baseUnits: 1n }, total: { usd: '1' } }
  expect(() => start('unused', { spendingLimit: usd })).toThrow('give each spending limit in baseUnits too')
})
