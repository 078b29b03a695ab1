import { readAddress } from '@tollbook/core/address'
import { divideRoundingUp } from '@tollbook/core/money'
import { InvalidOption } from './errorCode.ts'
import { attoUsdScale, type Cost } from './spendingLimit.ts'

/** Mints that the payer counts as one dollar each. `circle` means USDC of mainnet and devnet. */
export type DollarMints = 'circle' | readonly string[]

const ofCircle = ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU']

/**
 * Returns the mints that count as one dollar each. This code lists USDC only, because a longer list would go out of
 * date. The payer can list other mints.
 */
export function readDollarMints(option: DollarMints | undefined, expectedMint: string | undefined): readonly string[] {
  const mints = option === 'circle' ? ofCircle : (option ?? [])
  const wrong = mints.find((mint) => readAddress(mint) === undefined)
  if (wrong !== undefined) throw new InvalidOption(`dollarMints has ${wrong}, which is not an address`)
  if (expectedMint !== undefined && mints.includes(expectedMint))
    throw new InvalidOption('expectedMint is one of dollarMints: name each mint once')
  return mints
}

/**
 * Returns the cost of an amount in a dollar mint. Base units are 0, because limits in base units count `expectedMint`
 * only.
 */
export function dollarCost(baseUnits: bigint, decimals: number): Cost {
  return { baseUnits: 0n, attoUsd: divideRoundingUp(baseUnits * 10n ** BigInt(attoUsdScale), 10n ** BigInt(decimals)) }
}
