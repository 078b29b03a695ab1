import type { Address } from '@tollbook/core/address'
import { systemClock } from '@tollbook/core/clock'
import type { Price } from '@tollbook/core/quote'
import { decideDelivery, decideFinality } from '../../src/payment/finality.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import type { Ledger } from '../../src/store/openLedger.ts'
import { claimOf, fulfilmentOf, sampleAddress, sampleMint, sampleReference } from '../store/samplePayment.ts'
import { append, decide, finalized, reversed } from './afterAnswer.ts'
import { type PayingWallet, signedSettlement } from './signedPayment.ts'

/* Sales in two dollars of an audited ledger, of which one owes burns in the token, and deliveries of the treasury. */

export const dollar = sampleAddress()
/** Nothing is burned for sales in it. */
const otherDollar = sampleAddress()
const treasury = sampleAddress()
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const decimals = { dollar: 6, otherDollar: 9 }

/** The same sales each time. The treasury delivers less than they owe. */
export async function sellInDollars(
  ledger: Ledger,
  wallet: PayingWallet,
  tokenPrices: readonly Price[],
): Promise<void> {
  const inToken = tokenPrices.filter(({ mint }) => mint === sampleMint)
  const priced = (mint: Address, given: { decimals: number; burn: 'token' | 'none' }) =>
    dollarPrices(inToken, { mint, minimumMicroUsd: 1n, ...given }, defaultSplit)
  const inDollars = priced(dollar, { decimals: decimals.dollar, burn: 'token' })
  const inOthers = priced(otherDollar, { decimals: decimals.otherDollar, burn: 'none' })
  const prices = [...tokenPrices, ...inDollars, ...inOthers]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
  for (const [mint, of] of [
    [dollar, decimals.dollar],
    [otherDollar, decimals.otherDollar],
  ] as const)
    await ledger.settings.record([{ name: `mint/${mint}`, value: { decimals: of, tokenProgram } }])
  for (const [index, price] of [...inDollars, ...inDollars, ...inOthers].entries())
    await sell(ledger, wallet, { price, index })
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
