import { expect, test } from 'vitest'
import { createCustodyWatch } from '../../src/tabs/custodyWatch.ts'
import { readCustody } from '../../src/tabs/tabAccounts.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'

const [tabWallet, paymentWallet] = [sampleAddress(), sampleAddress()]

interface Situation {
  /** On tabs, and owed back to wallets. */
  readonly debts: readonly [prepaid: bigint, refundsDue: bigint]
  /** In the wallet for tabs, and in the payment wallet. */
  readonly held: readonly [forTabs: bigint, forPayments: bigint]
}

async function isCovered({ debts: [prepaidBaseUnits, refundsDueBaseUnits], held: [forTabs, forPayments] }: Situation) {
  const custody = await readCustody(
    {
      tabs: { totals: () => Promise.resolve({ prepaidBaseUnits, refundsDueBaseUnits }) },
      chain: {
        readBalance: ({ wallet }) =>
          Promise.resolve({ baseUnits: wallet === tabWallet ? forTabs : forPayments, slot: 1, isAgreed: true }),
      },
      tabWallets: () => [tabWallet],
      slot: () => 1,
    },
    { mint: sampleMint, paymentWallet },
  )
  return custody.isCovered
}

test('refunds of other sales are covered by the payment wallet, and do not stop the sale of tabs', async () => {
  expect(await isCovered({ debts: [100n, 50n], held: [100n, 50n] })).toBe(true)
  expect(await isCovered({ debts: [100n, 50n], held: [150n, 0n] })).toBe(true)
})

test('tabs are covered by the wallet for tabs alone, and all refunds by what both wallets hold beyond them', async () => {
  expect(await isCovered({ debts: [100n, 0n], held: [99n, 1_000n] })).toBe(false)
  expect(await isCovered({ debts: [100n, 50n], held: [120n, 29n] })).toBe(false)
})

test('a former wallet for tabs that receives payments now is counted once', async () => {
  const [current, former] = [sampleAddress(), sampleAddress()]
  const { isCovered: covered } = await readCustody(
    {
      tabs: { totals: () => Promise.resolve({ prepaidBaseUnits: 100n, refundsDueBaseUnits: 50n }) },
      chain: {
        readBalance: ({ wallet }) =>
          Promise.resolve({ baseUnits: wallet === current ? 100n : 30n, slot: 1, isAgreed: true }),
      },
      tabWallets: () => [current, former],
      slot: () => 1,
    },
    { mint: sampleMint, paymentWallet: former },
  )
  expect(covered).toBe(false)
})

test('a mint of which the wallet holds too little stops its own deposits only, and all stop while it cannot be read', async () => {
  const [dollar, dollarWallet] = [sampleAddress(), sampleAddress()]
  const held = new Map<string, bigint>([[`${tabWallet} ${sampleMint}`, 100n]])
  let isReadable = true
  const watch = createCustodyWatch()
  const read = () =>
    watch.readAgain({
      tabs: { totals: () => Promise.resolve({ prepaidBaseUnits: 100n, refundsDueBaseUnits: 10n }) },
      chain: {
        readBalance: ({ wallet, mint = sampleMint }) =>
          isReadable
            ? Promise.resolve({ baseUnits: held.get(`${wallet} ${mint}`) ?? 0n, slot: 1, isAgreed: true })
            : Promise.reject(Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:8899'), { code: 'ECONNREFUSED' })),
      },
      tabWallets: () => [tabWallet],
      terms: [
        { mint: sampleMint, paymentWallet },
        { mint: dollar, paymentWallet: dollarWallet },
      ],
      slot: () => 1,
    })
  const stops = () => [watch.whyClosed(), watch.whyNoDeposit(dollar), watch.problem()]
  expect(stops()).toEqual(Array(3).fill('the wallet for tabs has not been read yet'))
  held.set(`${paymentWallet} ${sampleMint}`, 10n)
  await read()
  const short = `the wallet for tabs holds less of ${dollar} than the tabs, or with the payment wallet less than the refunds due`
  expect(stops()).toEqual([undefined, short, short])
  // The refunds in dollars may be in the wallet of the dollar, and not in that of the token.
  held.set(`${tabWallet} ${dollar}`, 100n)
  held.set(`${paymentWallet} ${dollar}`, 10n)
  await read()
  expect(stops()).toEqual([undefined, short, short])
  held.set(`${dollarWallet} ${dollar}`, 10n)
  await read()
  expect(stops()).toEqual([undefined, undefined, undefined])
  held.delete(`${tabWallet} ${sampleMint}`)
  await read()
  expect(stops()).toEqual([expect.stringContaining(sampleMint), undefined, expect.stringContaining(sampleMint)])
  isReadable = false
  await read()
  expect(stops()).toEqual(Array(3).fill('the wallet for tabs cannot be read (ECONNREFUSED)'))
})
