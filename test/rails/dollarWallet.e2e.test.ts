import { createKeyPairSignerFromBytes } from '@solana/kit'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Keypair, LAMPORTS_PER_SOL, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { saleBody } from '@tollbook/core/wire'
import { connectLocalChain } from '../../src/cli/local/giveFunds.ts'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { signingTerms } from '../../src/signer/feePayerSigner.ts'
import { openSigner } from '../../src/signer/openSigner.ts'
import { runPayoutCommand } from '../cli/payoutRunner.ts'
import { openPool } from '../kernel/openKernel.ts'
import { afterFile } from '../support/afterFile.ts'
import { qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { changeSettings } from '../support/changeSettings.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { auditLedger } from '../support/ledgerFindings.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { mppFetch } from '../support/mppClient.ts'
import { sampleDollar, walletWithDollars } from '../support/sampleDollar.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { openX402Service, type X402Service } from '../support/x402Service.ts'

/* Dollars are paid to their own wallet: stock clients buy, a stray transfer is paid back, and the wallet changes. */

const finalSlots = 40
const dollar = new PublicKey(sampleDollarMint)
const [dollarWallet, nextWallet] = [Keypair.generate(), Keypair.generate()]
const currenciesOf = ({ publicKey }: Keypair) => `usdc:wallet=${publicKey.toBase58()}:minimum=0.001`
const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(dollar, owner)
const provisioned = sampleDollar()
let x402: X402Service
let folder: string

beforeAll(async () => {
  x402 = await openX402Service({
    env: { CURRENCIES: currenciesOf(dollarWallet), BURN_DEBT_MAX_TOKENS: '100' },
    dollars: {
      async provision(native, paymentWallet) {
        await provisioned.provision(native, paymentWallet)
        const connection = connectLocalChain(native.chain.rpcUrl)
        const { publicKey: payer } = provisioned.mintAuthority
        const openings = [dollarWallet, nextWallet].map(({ publicKey: owner }) =>
          createAssociatedTokenAccountIdempotentInstruction(payer, accountOf(owner), owner, dollar),
        )
        await sendAndConfirmTransaction(connection, new Transaction().add(...openings), [provisioned.mintAuthority])
        const signature = await connection.requestAirdrop(dollarWallet.publicKey, LAMPORTS_PER_SOL)
        await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
      },
    },
  })
  folder = await makeScratchDirectory()
})
afterAll(() => vi.unstubAllEnvs())

const order = (data: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ ...qrOrder.body, data }),
})
const urlOf = ({ baseUrl }: Pick<TestService, 'baseUrl'> = x402.service) => `${baseUrl}/x402${qrOrder.path}`

async function balanceOf(owner: PublicKey): Promise<string> {
  const { value } = await connectLocalChain(x402.service.chain.rpcUrl).getTokenAccountBalance(accountOf(owner))
  return value.amount
}

async function owed(name: string): Promise<string | undefined> {
  const { rows } = await openPool(x402.service.database.adminUrl, 1).query<{ owed: string }>(
    'select (-balance)::text as owed from ledger.accounts where name = $1 and mint = $2',
    [name, sampleDollarMint],
  )
  return rows[0]?.owed
}

/** The builder of the README of `@x402/fetch`. The given function sends the requests. */
async function fetchOfReadme(inner: typeof fetch = fetch): Promise<typeof fetch> {
  const signer = await createKeyPairSignerFromBytes(x402.service.demoWallet.secretKey)
  const scheme = new ExactSvmScheme(signer, { rpcUrl: x402.service.chain.rpcUrl })
  return wrapFetchWithPayment(inner, new x402Client().register('solana:*', scheme))
}

const required = z.object({ accepts: z.array(z.looseObject({ asset: z.string(), payTo: z.string() })) })

async function payToByAsset(service: TestService): Promise<ReadonlyMap<string, string>> {
  const { headers } = await fetch(urlOf(service), order('hello'))
  const offered: unknown = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString())
  return new Map(required.parse(offered).accepts.map(({ asset, payTo }) => [asset, payTo]))
}

test('offers and documents name the wallet of each mint', async () => {
  const { service, tokenMint, paymentWallet } = x402
  const own = dollarWallet.publicKey.toBase58()
  expect(await payToByAsset(service)).toEqual(
    new Map([
      [tokenMint, paymentWallet],
      [sampleDollarMint, own],
    ]),
  )
  for (const path of ['/api/catalog', '/openapi.json', '/llms.txt', '/.well-known/x402'])
    expect([path, await (await fetch(`${service.baseUrl}${path}`)).text()]).toEqual([
      path,
      expect.stringContaining(own),
    ])
})

test('stock clients of x402 and MPP pay dollars to the wallet of the dollar', async () => {
  const { service, paymentWallet } = x402
  const { rpcUrl } = service.chain
  const byX402 = await (await fetchOfReadme())(urlOf(), order('one'))
  expect(byX402.status, await byX402.clone().text()).toBe(200)
  const marked = { ...order('two'), headers: { ...order('two').headers, 'accept-payment': 'solana/charge' } }
  const paying = await mppFetch(service.demoWallet, { rpcUrl })
  const byMpp = await paying(`${service.baseUrl}${qrOrder.path}`, marked)
  expect(byMpp.status, await byMpp.clone().text()).toBe(200)
  for (const answer of [byX402, byMpp])
    expect(saleBody.parse(await answer.json()).receipt.currency?.mint).toBe(sampleDollarMint)
  expect(await balanceOf(dollarWallet.publicKey)).toBe('10000')
  expect(await balanceOf(new PublicKey(paymentWallet))).toBe('0')
})

test('dollars in the wallet of the token buy nothing, and are paid back out of the wallet of the dollar', async () => {
  const { service, native, env, paymentWallet, tokenMint } = x402
  const sender = await walletWithDollars(service, 3_000n)
  const connection = connectLocalChain(service.chain.rpcUrl)
  const strayTo = accountOf(new PublicKey(paymentWallet))
  const stray = createTransferInstruction(accountOf(sender.publicKey), strayTo, sender.publicKey, 3_000n)
  await sendAndConfirmTransaction(connection, new Transaction().add(stray), [service.demoWallet, sender])
  service.chain.advanceSlots(finalSlots)
  // The scan runs each minute, over transfers of more than an hour ago.
  const hurried = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal) }
  const scanning = await openTestService({ besides: native, env, clock: hurried, seams: { jobs: { settleAgeMs: 0 } } })
  const debt = `Liabilities:Unmatched:${sender.publicKey.toBase58()}`
  await awaitThat('the transfer is on record', async () => (await owed(debt)) === '3000')
  await scanning.close()

  for (const [name, value] of Object.entries({
    PAYOUT_DATABASE_URL: await makeMemberLogin(service.database.adminUrl, 'tollbook_payout'),
    SOLANA_RPC_URLS: `${service.chain.rpcUrl},${service.chain.rpcUrl}`,
    TOKEN_MINT: tokenMint,
    PAYMENT_WALLET: paymentWallet,
  }))
    vi.stubEnv(name, value)
  const [plan, keypair] = [join(folder, 'plan.json'), join(folder, 'wallet.json')]
  await writeFile(keypair, JSON.stringify([...dollarWallet.secretKey]))
  const clock = {
    ...systemClock,
    sleep: (ms: number) => {
      service.chain.advanceSlots(finalSlots)
      return systemClock.sleep(Math.min(ms, 10))
    },
  }
  const run = (...words: readonly string[]) => runPayoutCommand({ clock }, folder, words)
  const planning = ['plan', '--mint', 'usdc', '--min-tokens', '0', '--output', plan] as const
  const ofToken = await run(...planning)
  expect(ofToken.complaint).toContain(`wallet= of the dollar in CURRENCIES ${paymentWallet} is not in force`)
  vi.stubEnv('CURRENCIES', currenciesOf(dollarWallet))
  expect(await run(...planning)).toMatchObject({ code: 0 })
  const sent = await run('send', plan, '--keypair', keypair)
  expect(sent).toMatchObject({ code: 0 })
  for (const line of sent.lines)
    expect(await run('record', JSON.parse(line).signature, '--plan', plan)).toMatchObject({ code: 0 })
  expect(await balanceOf(sender.publicKey)).toBe('3000')
  expect([await balanceOf(dollarWallet.publicKey), await balanceOf(new PublicKey(paymentWallet))]).toEqual([
    '7000',
    '3000',
  ])
  expect(await owed(debt)).toBe('0')
})

test('while the wallet of the dollar changes, an open offer for the old one is honoured by the incoming instance', async () => {
  const { service, native, env, signerOptions, tokenMint, paymentWallet } = x402
  const incomingEnv = { ...env, CURRENCIES: currenciesOf(nextWallet) }
  const next = nextWallet.publicKey.toBase58()
  const startIncoming = (more = {}) => openTestService({ besides: native, env: { ...incomingEnv, ...more } })
  await expect(startIncoming()).rejects.toThrow(`npx tollbook wallet change --mint ${sampleDollarMint} ${next}`)
  await changeSettings(service, { [`payment-wallet/${sampleDollarMint}` as const]: next }, 3_600_000)
  const socketPath = `${folder}/incoming.sock`
  const signer = await openSigner({
    ...signerOptions,
    address: { socketPath },
    terms: signingTerms({
      mint: addressOf(tokenMint),
      paymentWallet: addressOf(paymentWallet),
      currencies: [{ symbol: 'USDC', mint: addressOf(sampleDollarMint), wallet: addressOf(next) }],
      others: [addressOf(dollarWallet.publicKey.toBase58())],
    }),
  })
  afterFile(() => signer.close())
  const incoming = await startIncoming({ SIGNER_SOCKET: socketPath })
  expect((await payToByAsset(incoming)).get(sampleDollarMint)).toBe(next)
  const before = await balanceOf(dollarWallet.publicKey)
  // The offer of the outgoing instance, paid at the incoming one, and a purchase at the incoming one alone.
  let requests = 0
  const across = await fetchOfReadme((input, init) =>
    fetch(urlOf(requests++ === 0 ? service : incoming), new Request(input, init)),
  )
  const [old, fresh] = [
    await across(urlOf(), order('three')),
    await (await fetchOfReadme())(urlOf(incoming), order('four')),
  ]
  expect([old.status, fresh.status, requests], await old.clone().text()).toEqual([200, 200, 2])
  expect(await balanceOf(dollarWallet.publicKey)).toBe(`${BigInt(before) + 5_000n}`)
  expect(await balanceOf(nextWallet.publicKey)).toBe('5000')
})

test('the audit finds nothing in the ledger and on the chain', async () => {
  const { service, paymentWallet } = x402
  service.chain.advanceSlots(finalSlots)
  const chain = { rpcUrl: service.chain.rpcUrl, paymentWallet }
  const { findings, verdicts } = await auditLedger(service.database.adminUrl, chain)
  expect(findings).toEqual([])
  expect(verdicts.chainTruth.status).toBe('holds')
})
