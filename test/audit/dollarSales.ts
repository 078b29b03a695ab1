import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { Price } from '@tollbook/core/quote'
import { decideDelivery, decideFinality } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { dollarSplit } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { recordDollarTab, tabMetered, tabPrices } from '../reports/recordTabs.ts'
import { claimOf, fulfilmentOf, sampleAddress, sampleMint, sampleReference } from '../store/samplePayment.ts'
import { append, decide, finalized, reversed } from './afterAnswer.ts'
import { type PayingWallet, signedSettlement } from './signedPayment.ts'

/* Sales in two dollars of an audited ledger, of which one owes burns in the token, and deliveries of the treasury. */

export const dollar = sampleAddress()
/** Nothing is burned for sales in it. */
const otherDollar = sampleAddress()
const treasury = sampleAddress()
const dollarWallet = sampleAddress()
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const decimals = { dollar: 6, otherDollar: 9 }
const burning = { mint: dollar, decimals: decimals.dollar, burn: 'token' } as const
const plain = { mint: otherDollar, decimals: decimals.otherDollar, burn: 'none' } as const

/** The same sales each time. The treasury delivers less than they owe. */
export async function sellInDollars(
  ledger: Ledger,
  wallet: PayingWallet,
  { tokenPrices, origin }: { readonly tokenPrices: readonly Price[]; readonly origin: string },
): Promise<void> {
  const inToken = tokenPrices.filter(({ mint }) => mint === sampleMint)
  const priced = (prices: readonly Price[], sold: typeof burning | typeof plain) =>
    dollarPrices(prices, { minimumMicroUsd: 1n, ...sold }, defaultSplit)
  const [inDollars, inOthers] = [priced(inToken, burning), priced(inToken, plain)]
  const onTabs = [priced(tabPrices, burning), priced(tabPrices, plain)]
  const prices = [...tokenPrices, ...inDollars, ...inOthers, ...tabPrices, ...onTabs.flat()]
  const listed = { source: 'fixed' as const, split: defaultSplit, prices, metered: tabMetered }
  const priceList = await ledger.priceLists.publish({ kind: 'PriceListPublished', ...listed })
  for (const [mint, of] of [
    [dollar, decimals.dollar],
    [otherDollar, decimals.otherDollar],
  ] as const)
    await ledger.settings.record([
      { name: `mint/${mint}`, value: { decimals: of, tokenProgram } },
      { name: `payment-wallet/${mint}`, value: dollarWallet },
    ])
  for (const [index, price] of [...inDollars, ...inDollars, ...inOthers].entries())
    await sell(ledger, wallet, { price, index })
  for (const [deposit, fixed, chat] of onTabs) {
    assert(deposit !== undefined && fixed !== undefined && chat !== undefined, 'each is sold in dollars')
    const tabsIn = { deposit, fixed, chat, split: dollarSplit(defaultSplit) }
    await recordDollarTab(ledger, { payer: wallet, origin, priceList, prices: tabsIn })
  }
  for (const receivedBaseUnits of [1_000_000n, 2_000_000n]) {
    const transfer = { wallet: treasury, mint: sampleMint, receivedBaseUnits, slot: 1_000 }
    const delivery = decideDelivery(unknownPayment, transfer, { wallet: treasury, mint: sampleMint })
    await decide(ledger, { reference: sampleReference(), before: unknownPayment }, delivery)
  }
}

/** Of three sales one becomes final, one is reversed, and one stays as it is. */
async function sell(
  ledger: Ledger,
  wallet: PayingWallet,
  { price, index }: { readonly price: Price; readonly index: number },
): Promise<void> {
  const settlement = signedSettlement(wallet, {
    price,
    quoteId: undefined,
    memo: undefined,
    burnedBaseUnits: 0n,
    receivedBaseUnits: price.requiredBaseUnits + (index === 0 ? 5n : 0n),
    blockTimeMs: Math.floor(systemClock.nowMs() / 1000) * 1000,
  })
  const { reference } = settlement
  const { attemptId, change } = claimOf(settlement)
  const before = await append(ledger, change)
  const served = await append(ledger, fulfilmentOf(settlement, { before, attemptId }))
  const verdict = [finalized, reversed, undefined][index % 3]
  if (verdict !== undefined) await decide(ledger, { reference, before: served }, decideFinality(served, verdict))
}
