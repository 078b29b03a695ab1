import { readAddress } from '@tollbook/core/address'
import { divideRoundingUp } from '@tollbook/core/money'
import { InvalidOption } from './errorCode.ts'
import { attoUsdScale, type Cost } from './spendingLimit.ts'

/** `circle`: USDC of mainnet and devnet. Otherwise the mints that the payer counts as one dollar each. */
export type DollarMints = 'circle' | readonly string[]

const ofCircle = ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU']

/** The dollars that a payer also pays in. A list in the code would age, so the payer names them. */
export function readDollarMints(option: DollarMints | undefined, expectedMint: string | undefined): readonly string[] {
  const mints = option === 'circle' ? ofCircle : (option ?? [])
  const wrong = mints.find((mint) => readAddress(mint) === undefined)
  if (wrong !== undefined) throw new InvalidOption(`dollarMints has ${wrong}, which is not an address`)
  if (expectedMint !== undefined && mints.includes(expectedMint))
    throw new InvalidOption('expectedMint is one of dollarMints: name each mint once')
  return mints
}

/** Cost of a payment in dollars. Limits in base units are of `expectedMint`, so it counts in dollars only. */
export function dollarCost(baseUnits: bigint, decimals: number): Cost {
  return { baseUnits: 0n, attoUsd: divideRoundingUp(baseUnits * 10n ** BigInt(attoUsdScale), 10n ** BigInt(decimals)) }
}
