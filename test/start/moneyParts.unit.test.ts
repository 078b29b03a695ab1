import { Readable } from 'node:stream'
import { encodeBase58 } from '@tollbook/core/base58'
import { secretKeySigner } from '@tollbook/core/ed25519'
import { assertPresent } from '@tollbook/core/assert'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { type FinanceDeps, openFinance } from '../../src/start/finance/openFinance.ts'
import { measureBurnDebt } from '../../src/start/jobs/startJobs.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* Parts of the start that hand figures of money from one part to another. */

const [wallet, former, dollar] = [sampleAddress(), sampleAddress(), sampleAddress()]
const termsOf = (mint: typeof wallet, paymentWallet: typeof wallet) => ({
  mint,
  paymentWallet,
  decimals: 6,
  network: 'n',
})
const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }

function open(reached: number, clock = steppedClock()) {
  const money: { readonly mint: string; readonly walletBaseUnits: bigint }[] = []
  const statements: Readable[] = []
  const balances = new Map([
    [`${wallet} ${sampleMint}`, 5n],
    [`${former} ${sampleMint}`, 2n],
    [`${wallet} ${dollar}`, 11n],
  ])
  const figures = { accounts: [] }
  const reports = {
    rollUp: () => Promise.resolve(),
    mints: () => Promise.resolve([sampleMint, dollar, sampleAddress()].map((mint) => ({ mint, name: '' }))),
    inMint: () => Promise.resolve({ money: () => Promise.resolve(figures) }),
    statement() {
      const read = Readable.from(['a statement'])
      statements.push(read)
      return Promise.resolve({ position: reached, headPosition: 10, read })
    },
    facts: {},
    close: () => Promise.resolve(),
  }
  const deps = {
    clock,
    log: silentLog,
    metrics: { ...createMetrics(), onMoney: (shown: (typeof money)[number]) => money.push(shown) },
    ledger: {
      openReports: () => reports,
      payments: {},
      keys: {},
      settings: {
        origin: 'o',
        allTerms: () => [termsOf(sampleMint, wallet), termsOf(sampleMint, former), termsOf(dollar, wallet)],
      },
    },
    chain: {
      terms: termsOf(sampleMint, wallet),
      dollars: [],
      finality: {},
      reader: {
        readBalance: (of: { readonly wallet: string; readonly mint: string }) =>
          Promise.resolve({ baseUnits: balances.get(`${of.wallet} ${of.mint}`) ?? 0n, slot: 1, isAgreed: true }),
      },
    },
  }
  const access = { issuer: 'i', audience: 'a', keys: { jwks: { keys: [] } }, listener: undefined }
  const refunds = { databaseUrl: undefined, limits: { finance: 1n, support: 1n } }
  // The part reads only these members of the ledger and of the chain.
  const part = openFinance(
    { finance: access, refunds, server: { publicUrl: undefined } },
    deps as unknown as FinanceDeps,
  )
  return { part, money, statements, clock }
}

test('the balance of a mint is the sum over its wallets, the former ones too, and a mint that is not accepted has none', async () => {
  const { part, money, clock } = open(10)
  await clock.step()
  expect(money.map(({ mint, walletBaseUnits }) => [mint, walletBaseUnits])).toEqual([
    [sampleMint, 7n],
    [dollar, 11n],
  ])
  await part.close()
})

test('a statement is refused, and closed, while the reports are behind the ledger', async () => {
  const keys = Keypair.generate()
  const { sign } = assertPresent(secretKeySigner(keys.secretKey), 'the key is whole')
  const owner = keys.publicKey.toBase58()
  const statusAt = async (reached: number) => {
    const { part, statements } = open(reached)
    const route = part.routes.find(({ path }) => path.startsWith('/api/statements'))
    const ask = async (authorization?: string) =>
      assertPresent(route, 'there are statements').serve({
        segment: owner,
        query: 'month=2026-08',
        address: '',
        host: '',
        requestId: '',
        header: () => authorization,
        limits,
      })
    const { body } = await ask()
    const { challenge, expiresAt } = JSON.parse(typeof body === 'string' ? body : '{}')
    const { status } = await ask(`Wallet ${owner}.${expiresAt}.${encodeBase58(sign(Buffer.from(challenge)))}`)
    await part.close()
    return [status, statements.map(({ destroyed }) => destroyed)]
  }
  expect(await statusAt(9)).toEqual([503, [true]])
  expect(await statusAt(10)).toEqual([200, [false]])
})

test('the age of the owed burns is in seconds, and a block time ahead of this clock counts as now', async () => {
  const clock = steppedClock()
  const shown: unknown[] = []
  const measure = (oldestOwedAtMs: number | undefined) =>
    measureBurnDebt({
      clock,
      ledger: {
        burnDebt: ({ mint }) =>
          Promise.resolve({
            owedBaseUnits: mint === sampleMint ? 3n : 0n,
            oldestOwedAtMs,
            confirmedBaseUnits: 0n,
            lastRound: undefined,
          }),
      },
      chain: { terms: { ...termsOf(sampleMint, wallet), tokenProgram: wallet, paymentTokenAccount: wallet } },
      metrics: { onBurnDebt: (debt) => void shown.push(debt) },
    })
  await measure(clock.nowMs() - 90_000)
  await measure(clock.nowMs() + 2_000)
  await measure(undefined)
  expect(shown).toEqual([90, 0, 0].map((oldestSeconds) => ({ owedBaseUnits: 3n, oldestSeconds })))
})
