import { Keypair } from '@solana/web3.js'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { secretKeySigner } from '@tollbook/core/ed25519'
import { silentLog } from '../../src/machine/log.ts'
import type { ShownMoney } from '../../src/jobs/moneyMetricsJob.ts'
import { type FinanceDeps, type FinancePartConfig, openFinance } from '../../src/start/finance/openFinance.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'

const [wallet, formerWallet, dollarWallet, dollar] = Array.from({ length: 4 }, () => sampleAddress())
const balances = new Map([
  [wallet, 30n],
  [formerWallet, 12n],
  [dollarWallet, 1_000n],
])

/** The part with reports at this position of ten. It reads only these members of ledger and chain here. */
function openPart(position: number, finance: FinancePartConfig['finance']) {
  const clock = steppedClock()
  const money = Promise.withResolvers<ShownMoney>()
  const statement = Readable.from(['payments'])
  const reports = {
    mints: () => Promise.resolve([{ mint: sampleMint }]),
    inMint: () => Promise.resolve({ money: () => Promise.resolve({ accounts: [] }) }),
    statement: () => Promise.resolve({ position, headPosition: 10, read: statement }),
    rollUp: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const allTerms = () => [
    { mint: sampleMint, paymentWallet: wallet },
    { mint: dollar, paymentWallet: dollarWallet },
    { mint: sampleMint, paymentWallet: formerWallet },
  ]
  const deps = {
    clock,
    log: silentLog,
    metrics: { onMoney: money.resolve },
    ledger: { openReports: () => reports, payments: {}, settings: { origin: 'tollbook/test', allTerms }, keys: {} },
    chain: {
      dollars: [],
      terms: { mint: sampleMint, decimals: 6, network: 'solana:test' },
      reader: {
        readBalance: ({ wallet: of }: { wallet: typeof wallet }) => Promise.resolve({ baseUnits: balances.get(of) }),
      },
    },
  }
  const config = { finance, refunds: { limits: { finance: 0n, support: 0n } }, server: { publicUrl: '' } }
  return {
    part: openFinance(config, deps as unknown as FinanceDeps),
    money: money.promise,
    statement,
    clock,
  }
}

test('the balance of finance counts former payment wallets of the mint, and no wallet of another', async () => {
  const access = { issuer: 'i', audience: 'a', keys: { jwks: { keys: [] } }, listener: undefined }
  const { part, money, clock } = openPart(10, access)
  await clock.step()
  expect(await money).toMatchObject({ mint: sampleMint, walletBaseUnits: 42n })
  await part.close()
})

test('a statement is refused and closed while the reports are behind the ledger', async () => {
  const keys = Keypair.generate()
  const { sign } = assertPresent(secretKeySigner(keys.secretKey), 'the key is whole')
  const owner = keys.publicKey.toBase58()
  const ask = async (position: number) => {
    const { part, statement } = openPart(position, undefined)
    const route = assertPresent(
      part.routes.find(({ path }) => path.startsWith('/api/statements')),
      'it is a route',
    )
    const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
    const request = { segment: owner, query: 'month=2026-08', address: '', host: '', requestId: '', limits }
    const { body: asked } = await route.serve({ ...request, header: () => undefined })
    assert(typeof asked === 'string', 'a challenge is text')
    const { challenge, expiresAt } = JSON.parse(asked)
    const signed = `Wallet ${owner}.${expiresAt}.${encodeBase58(sign(Buffer.from(challenge)))}`
    const { status } = await route.serve({ ...request, header: () => signed })
    await part.close()
    return [status, statement.destroyed]
  }
  expect(await ask(9)).toEqual([503, true])
  expect(await ask(10)).toEqual([200, false])
})
