import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { assertPresent } from '@tollbook/core/assert'
import { createDocumentRoutes } from '../../src/routes/documentRoutes.ts'
import { createPayRoutes, type WalletPort } from '../../src/routes/payRoutes.ts'
import type { FreeAction } from '../../src/transport/freeRoute.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { defaultSeller } from '../../src/product/seller.ts'
import { mint, wallet } from '../payment/paymentStory.ts'
import { products } from '../support/builtinProducts.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Answers to a wallet of Solana Pay while the service cannot sell, and while the ledger or the chain is away. */

const product = {
  ...assertPresent(products[0], 'there are products'),
  whyUnavailable: () => undefined,
  suppliedBy: () => 'providers' as const,
  probes: [],
  read: () => ({ ok: false, issues: [] }) as const,
}
const unused = (): never => {
  throw new Error('nothing is prepared or searched')
}

function openPage({ wallets, noQuotes }: { readonly wallets?: Partial<WalletPort>; readonly noQuotes?: string }) {
  const { routes } = createPayRoutes({
    endpoints: [product],
    sales: { whyClosed: () => undefined, whyNoQuotes: () => noQuotes },
    wallets: { prepare: unused, find: unused, ...wallets },
    terms: { mint, network: 'solana:local' },
    token: { symbol: 'TOLL' },
    seller: { name: 'Tollbook' },
    dollars: [],
    address: { urlFor: () => 'https://api.example' },
  })
  const counted: unknown[] = []
  const limits = { limitQuotes: (payer: unknown) => void counted.push(payer), limitLookups: () => undefined }
  const facts = { address: '', segment: 'digest', query: '', host: '', requestId: '', limits, header: () => undefined }
  const action: FreeAction = { ...facts, body: { account: wallet } }
  const at = (path: string) =>
    assertPresent(
      routes.find((route) => route.path === path),
      `${path} is a route`,
    )
  return {
    prepare: (account: unknown = wallet) =>
      assertPresent(at(`/pay${product.path}/:digest`).post, 'it prepares a payment')({ ...action, body: { account } }),
    counted,
    find: () => at('/pay/payment/:digest').serve(action),
  }
}

test('an account that is not an address costs the wallet no quote, and the limits do not store it', async () => {
  const page = openPage({ wallets: { prepare: () => Promise.reject(new Fault('away', { retryable: true })) } })
  for (const account of ['x'.repeat(900), '', 7, null])
    expect(await page.prepare(account)).toMatchObject({ status: 400, body: expect.stringContaining('account') })
  expect(page.counted).toEqual([])
  await page.prepare()
  expect(page.counted).toEqual([wallet])
})

test('no transaction is prepared while no quote is made, because its payer would have no price', async () => {
  const { status, headers, body } = await openPage({ noQuotes: 'no node of the chain answers' }).prepare()
  expect([status, headers['retry-after']]).toEqual([503, '5'])
  expect(body).toContain('"message":"no node of the chain answers"')
})

test.each(['prepare', 'find'] as const)(
  'a fault that passes is told to the wallet, and a bug is not: %s',
  async (step) => {
    const failing = (retryable: boolean) => {
      const fail = () => Promise.reject(new Fault('the ledger is away', { retryable }))
      return openPage({ wallets: { prepare: fail, find: fail } })[step]()
    }
    expect(await failing(true)).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
    await expect(failing(false)).rejects.toThrow('the ledger is away')
  },
)

test('the catalog says that nothing is for sale from the moment at which the sale closes', async () => {
  const sale: { closed?: string } = {}
  const address = { url: () => 'https://api.example', linkBase: () => '', urlFor: () => 'https://api.example' }
  const routes = createDocumentRoutes({
    clock: steppedClock(),
    version: '1',
    address,
    endpoints: [product],
    searches: [],
    sales: { currentPrice: () => undefined, whyClosed: () => sale.closed, rails: [] },
    wallets: {},
    terms: {
      mint,
      decimals: 6,
      tokenProgram: mint,
      paymentWallet: wallet,
      paymentTokenAccount: wallet,
      network: 'solana:local',
    },
    split: defaultSplit,
    token: { symbol: 'TOLL' },
    seller: defaultSeller,
    dollars: [],
    otherRoutes: [],
  })
  const catalog = assertPresent(
    routes.find(({ path }) => path === '/api/catalog'),
    'it is a route',
  )
  const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
  const facts = { address: '', segment: '', query: '', host: '', requestId: '', limits, header: () => undefined }
  const read = async () => {
    const { body } = await catalog.serve(facts)
    return typeof body !== 'string' && 'bytes' in body ? body.bytes.toString('utf8') : ''
  }
  expect(await read()).not.toContain('the ledger is away')
  sale.closed = 'the ledger is away'
  expect(await read()).toContain('the ledger is away')
})
