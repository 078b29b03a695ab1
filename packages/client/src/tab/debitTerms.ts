import { type Address, readAddress } from '@tollbook/core/address'
import { divideRoundingUp } from '@tollbook/core/money'
import type { PayableQuote } from '../checkQuote.ts'
import type { Payer } from '../payer.ts'
import { attoUsdScale, type Cost } from '../spendingLimit.ts'

export interface DebitTerms {
  readonly mint: Address
  readonly maxBaseUnits: bigint
  readonly cost: Cost
}

const oneDollarAttoUsd = 10n ** BigInt(attoUsdScale)

/**
 * Returns the terms of a debit in this mint. A tab in the quoted token pays the quoted tokens, and a tab in dollars
 * pays the price in dollars. Undefined if the payer does not permit the mint, or if its decimals or value are not as
 * expected.
 */
export async function termsIn(payer: Payer, quote: PayableQuote, text: string): Promise<DebitTerms | undefined> {
  const { pins, dollarMints, worth, chain } = payer
  const { priceAttoUsd: attoUsd, requiredBaseUnits, decimals } = quote
  const mint = readAddress(text)
  const isListed = mint !== undefined && dollarMints.includes(mint)
  if (mint === undefined || !(isListed || pins.expectedMint === mint)) return undefined
  const isQuoted = mint === quote.mint && !isListed
  const cost = { attoUsd, baseUnits: requiredBaseUnits }
  if (isQuoted && !payer.valuesTokens) return { mint, maxBaseUnits: requiredBaseUnits, cost }
  const own = await chain.readDecimals({ mint, paymentTokenAccount: quote.paymentTokenAccount })
  if (own === undefined) return undefined
  // With other decimals than those of the mint, a limit in dollars would permit any amount.
  if (isQuoted) return own === decimals ? { mint, maxBaseUnits: requiredBaseUnits, cost: worth(cost, own) } : undefined
  const maxBaseUnits = divideRoundingUp(attoUsd * 10n ** BigInt(own), oneDollarAttoUsd)
  if (isListed) return { mint, maxBaseUnits, cost: { attoUsd, baseUnits: 0n } }
  const isDollar = worth({ attoUsd: 0n, baseUnits: 10n ** BigInt(own) }, own).attoUsd === oneDollarAttoUsd
  return isDollar ? { mint, maxBaseUnits, cost: worth({ attoUsd, baseUnits: maxBaseUnits }, own) } : undefined
}
