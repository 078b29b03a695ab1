import {
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { reconcileCommand } from '../../src/cli/reconcile.ts'
import { sampleDollarAccount, sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openPayout } from '../../src/payout/openPayout.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { addressOf, land, newCustomer, stage } from '../chain/chainFixture.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { runPayoutCommand } from '../cli/payoutRunner.ts'
import { followOpenWork } from '../../src/jobs/openWorkJob.ts'
import { seedPayment } from '../reports/seedPayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openSessions } from '../store/instance.ts'
import { makeDebts, openPayoutFixture } from './payoutFixture.ts'

/* Debts in the token and in dollars, paid by the commands of docs/payouts.md: one plan for each mint. */

const environment = await openPayoutFixture('SPL Token')
const { fixture, ledger, database, destinations } = environment
const admin = openSessions(database.adminUrl)
const dollar = assertPresent(readAddress(sampleDollarMint), 'the mint is an address')
const dollarKey = new PublicKey(sampleDollarMint)
const [stranger, customer] = [await newCustomer(fixture), await newCustomer(fixture)]
const folder = await makeScratchDirectory()
const wallet = join(folder, 'wallet.json')
await writeFile(wallet, JSON.stringify([...fixture.paymentWallet.secretKey]))
await makeDebts(environment)
await sellInDollars()
const shares = [...destinations].map(([share, address]) => `${share}:${address}`).join(',')
for (const [name, value] of Object.entries({
  PAYOUT_DATABASE_URL: environment.payoutUrl,
  SOLANA_RPC_URLS: fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl).join(','),
  TOKEN_MINT: fixture.terms.mint,
  PAYMENT_WALLET: fixture.terms.paymentWallet,
  PAYOUT_WALLETS: shares,
}))
  vi.stubEnv(name, value)
afterAll(() => vi.unstubAllEnvs())

function dollarAccountOf(owner: PublicKey): PublicKey {
  return getAssociatedTokenAddressSync(dollarKey, owner)
}

/** Two sales in dollars, both overpaid, whose burns the treasury has not delivered. The stranger gave its account away. */
async function sellInDollars(): Promise<void> {
  fixture.chain.placeAccount(sampleDollarAccount(fixture.issuer))
  const sold = { mint: dollar, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const price = assertPresent(dollarPrices([fixture.price], sold, defaultSplit)[0], 'the price is above the minimum')
  for (const { address } of [stranger, customer])
    await seedPayment(ledger, {
      wallet: addressOf(address),
      endpoint: price.endpoint,
      requiredBaseUnits: price.requiredBaseUnits,
      overpaidBaseUnits: 10_000n,
      blockTimeMs: environment.clock.nowMs(),
      end: 'finalized',
      price,
    })
  const owners = [
    fixture.paymentWallet.publicKey,
    stranger.address,
    customer.address,
    ...[...destinations.values()].map((to) => new PublicKey(to)),
  ]
  const payer = fixture.issuer.publicKey
  for (const owner of owners)
    await stage(fixture, [
      createAssociatedTokenAccountIdempotentInstruction(payer, dollarAccountOf(owner), owner, dollarKey),
    ])
  const received = 2n * (price.requiredBaseUnits + 10_000n)
  await stage(fixture, [
    createMintToInstruction(dollarKey, dollarAccountOf(fixture.paymentWallet.publicKey), payer, received),
  ])
  const other = Keypair.generate().publicKey
  const { address, keypair } = stranger
  await land(
    fixture,
    [createSetAuthorityInstruction(dollarAccountOf(address), address, AuthorityType.AccountOwner, other)],
    [keypair],
  )
  fixture.chain.advanceSlots(40)
  await followOpenWork(environment.deps)
}

const run = (...words: readonly string[]) => runPayoutCommand(environment, folder, words)

/** Plans, sends and records the debts of a mint. Returns the complaint of the plan. */
async function payAll(name: string, ...words: readonly string[]): Promise<string> {
  const file = join(folder, `${name}.json`)
  const planned = await run('plan', '--output', file, '--min-tokens', '0', ...words)
  expect(planned).toMatchObject({ code: 0 })
  const sent = await run('send', file, '--keypair', wallet)
  expect(sent).toMatchObject({ code: 0 })
  for (const line of sent.lines)
    expect(await run('record', JSON.parse(line).signature, '--plan', file)).toMatchObject({ code: 0 })
  return planned.complaint
}

async function liabilitiesIn(mint: Address): Promise<Readonly<Record<string, string>>> {
  const { rows } = await admin.query<{ name: string; owed: string }>(
    "select name, (-balance)::text as owed from ledger.accounts where mint = $1 and balance <> 0 and name like 'Liabilities:%'",
    [mint],
  )
  return Object.fromEntries(rows.map(({ name, owed }) => [name, owed]))
}

test('the debts of each mint are paid in it, and a bad account in one stops neither', async () => {
  const owedBurn = (await liabilitiesIn(fixture.terms.mint))['Liabilities:BurnOwed']
  const waits = await payAll('usdc', '--mint', 'usdc')
  expect(waits).toContain(`waits: Liabilities:Overpaid:${stranger.address.toBase58()}, 0.01 tokens:`)
  expect(waits).toContain('belongs to')
  expect(await liabilitiesIn(dollar)).toEqual({ [`Liabilities:Overpaid:${stranger.address.toBase58()}`]: '10000' })
  // The treasury has not delivered the tokens of the burns. They are not in the wallet, so nothing waits for them.
  expect(await payAll('token')).toBe('')
  expect(await liabilitiesIn(fixture.terms.mint)).toEqual({ 'Liabilities:BurnOwed': owedBurn })
  const paid = await fixture.connection.getTokenAccountBalance(dollarAccountOf(customer.address), 'processed')
  expect(paid.value.amount).toBe('10000')
})

test('dollars are not divided among the holders of the dollar', async () => {
  const { payoutUrl: databaseUrl, clock } = environment
  const { mint: tokenMint, paymentWallet } = fixture.terms
  const rpcUrls = fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl)
  const payout = await openPayout({
    databaseUrl,
    rpcUrls,
    tokenMint,
    mint: 'USDC',
    paymentWallet,
    clock,
    log: silentLog,
  })
  afterFile(() => payout.close())
  await expect(payout.holders.snapshot()).rejects.toThrow('is not the service token')
})

test('a mint that the ledger does not have is refused by name', async () => {
  const planned = await run('plan', '--mint', 'EURC')
  expect(planned.code).toBe(4)
  expect(planned.complaint).toContain(
    `the mint must be TOKEN (${fixture.terms.mint}), USDC (${sampleDollarMint}) (got EURC)`,
  )
})

test('one mint whose wallet differs from the ledger is enough for the exit code of reconcile', async () => {
  const { price } = fixture
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices: [price] })
  vi.stubEnv('DATABASE_URL', database.serviceUrl)
  vi.stubEnv('CURRENCIES', `USDC=${sampleDollarMint}`)
  const reconcile = async () => (await openTerminal()).run(reconcileCommand)
  expect(await reconcile()).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringMatching(/^USDC, /m) })
  const account = dollarAccountOf(fixture.paymentWallet.publicKey)
  await stage(fixture, [createMintToInstruction(dollarKey, account, fixture.issuer.publicKey, 5_000n)])
  fixture.chain.advanceSlots(40)
  const differs = await reconcile()
  expect(differs.exitCode).toBe(9)
  expect(differs.stdout.match(/^Difference .*$/gm)?.map((line) => line.split(/ +/)[1])).toEqual(['0', '0.005'])
})
