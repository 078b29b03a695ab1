import { join } from 'node:path'
import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { beforeAll, expect, test } from 'vitest'
import { openPaymentFolder } from '@tollbook/client/node'
import { PaymentUnresolved } from '@tollbook/client/paymentError'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { QuoteRefused } from '@tollbook/client/quoteProblem'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { type HostileServer, type Misdeed, startHostileServer } from './support/hostileServer.ts'
import { rejectionOf } from './support/payerScene.ts'
import { openTokenChain, type TokenChain } from './support/tokenChain.ts'
import { createVirtualClock } from './support/virtualClock.ts'

/*
 * Servers that take the payment and misbehave, over HTTP, on the local chain. The balance of the payer tells how many
 * payments there were.
 */

const costBaseUnits = 20_000_000n

let token: TokenChain
let network: string

beforeAll(async () => {
  token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  network = `solana:${(await token.connection.getGenesisHash()).slice(0, 32)}`
})

interface Visit {
  readonly server: HostileServer
  /** A paying fetch of a process that starts now, over the same folder. */
  start(options?: Partial<PayingFetchOptions>): PayingFetch
  payments(): Promise<bigint>
}

async function visit(misdeeds: Misdeed[] = []): Promise<Visit> {
  const [server, folder, clock] = [
    await startHostileServer(token, network),
    join(await makeScratchDirectory(), 'payments'),
    createVirtualClock(),
  ]
  server.misdeeds = misdeeds
  server.onHang = () => clock.expire()
  const start = (options: Partial<PayingFetchOptions> = {}) =>
    createPayingFetch({
      wallet: keypairWallet(token.payer),
      clock,
      rpcUrl: token.chain.rpcUrl,
      expectedMint: token.mint.toBase58(),
      spendingLimit: { perRequest: { baseUnits: costBaseUnits } },
      store: openPaymentFolder(folder),
      ...options,
    })
  const heldAtFirst = await heldBaseUnits()
  return { server, start, payments: async () => (heldAtFirst - (await heldBaseUnits())) / costBaseUnits }
}

async function heldBaseUnits(): Promise<bigint> {
  const { connection, payer, mint } = token
  const { value } = await connection.getTokenAccountsByOwner(payer.publicKey, { mint }, 'confirmed')
  return value.reduce((sum, { account }) => sum + account.data.readBigUInt64LE(64), 0n)
}

const forms = ['bound', 'signature'] as const

for (const form of forms) {
  test.each([[['hang']], [['reset', 'answer 502']]] as Misdeed[][][])(
    `in ${form} form, a server that settles and then does %j is shown the same payment again`,
    async (misdeeds) => {
      const { server, start, payments } = await visit([...misdeeds])
      expect((await start({ form })(server.url)).status).toBe(200)
      expect([await payments(), new Set(server.proofs).size]).toEqual([1n, 1])
      expect(server.proofs).toHaveLength(misdeeds.length + 1)
    },
  )

  test.each<Misdeed>([
    'ask again',
    'ask again for ten times as much',
    'deliver without a receipt',
    'deliver with the receipt of another payment',
  ])(
    `in ${form} form, a server that settles and then does "%s" is not paid again, not even by a later process`,
    async (misdeed) => {
      const { server, start, payments } = await visit([misdeed, misdeed])
      for (const process of [start({ form }), start({ form })])
        expect(await rejectionOf(process(server.url))).toBeInstanceOf(PaymentUnresolved)
      expect((await start({ form })(server.url)).status).toBe(200)
      expect([await payments(), new Set(server.proofs).size]).toEqual([1n, 1])
    },
  )
}

test('a server that answers 502 until the payer gives up is shown the same payment by the next process', async () => {
  const { server, start, payments } = await visit(Array.from({ length: 10 }, () => 'answer 502'))
  expect(await rejectionOf(start()(server.url))).toBeInstanceOf(PaymentUnresolved)
  expect((await start()(server.url)).status).toBe(200)
  expect([await payments(), new Set(server.proofs).size, server.proofs.length]).toEqual([1n, 1, 11])
})

test('a redirect leads no proof and no wallet to another host', async () => {
  const { server, start, payments } = await visit(['redirect'])
  const other = await startHostileServer(token, network)
  const seen: string[] = []
  other.offer = (honest) => {
    seen.push('unpaid')
    return honest
  }
  server.redirectTo = other.url
  expect(await rejectionOf(start()(server.url))).toBeInstanceOf(PaymentUnresolved)
  server.redirectsAll = true
  expect((await start({ store: openPaymentFolder(await makeScratchDirectory()) })(server.url)).status).toBe(307)
  expect([await payments(), other.proofs.length, seen.length]).toEqual([1n, 0, 0])
})

test('an offer in another mint that the wallet holds is refused before anything is signed', async () => {
  const { server, start, payments } = await visit()
  const other = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  server.offer = (honest) => ({
    ...honest,
    tokenMint: other.mint.toBase58(),
    paymentTokenAccount: other.paymentTokenAccount.toBase58(),
    paymentWallet: other.paymentWallet.toBase58(),
  })
  expect(await rejectionOf(start()(server.url))).toMatchObject({ name: 'QuoteRefused', problem: 'other_mint' })
  expect([await payments(), server.proofs.length]).toEqual([0n, 0])
})

test.each([
  ['another network', 'other_network', { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }],
  ['a memo that is not of its secret', 'memo_wrong', {}],
] as const)('an offer on %s is refused before anything is signed', async (_name, problem, changes) => {
  const { server, start, payments } = await visit()
  server.offer = ({ quote, ...honest }) => ({
    ...honest,
    ...changes,
    quote: problem === 'memo_wrong' ? { ...quote, memo: 'tollbook:other' } : quote,
  })
  const error = await rejectionOf(start()(server.url))
  if (!(error instanceof QuoteRefused)) throw error
  expect(error.problem).toBe(problem)
  expect([await payments(), server.proofs.length]).toEqual([0n, 0])
})

test('a server that sells each time is paid only within the limits of a host and of a day', async () => {
  const { server, start, payments } = await visit()
  const perRequest = { baseUnits: costBaseUnits }
  for (const scope of ['perHost', 'perDay'] as const) {
    const payingFetch = start({
      spendingLimit: { perRequest, [scope]: { baseUnits: 2n * costBaseUnits } },
      store: openPaymentFolder(await makeScratchDirectory()),
    })
    for (const _ of [1, 2]) expect((await payingFetch(server.url)).status).toBe(200)
    expect(await rejectionOf(payingFetch(server.url))).toMatchObject({ name: 'SpendingLimitExceeded' })
  }
  expect(await payments()).toBe(4n)
})

test.each<Misdeed>(['say that it refuses for good', 'say that the key was used'])(
  'a server that settles and then does "%s" gets no more than the limit, however often it is asked',
  async (misdeed) => {
    const { server, start, payments } = await visit(Array.from({ length: 5 }, () => misdeed))
    const limit = { baseUnits: 2n * costBaseUnits }
    const payingFetch = start({ spendingLimit: { perRequest: { baseUnits: costBaseUnits }, total: limit } })
    for (const name of ['PaymentRefused', 'PaymentRefused', 'SpendingLimitExceeded', 'SpendingLimitExceeded'])
      expect(await rejectionOf(payingFetch(server.url))).toMatchObject({ name })
    expect(await payments()).toBe(2n)
  },
)
