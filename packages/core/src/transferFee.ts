import { assert } from './assert.ts'
import { divideRoundingUp } from './money.ts'

/** Token-2022 withholds this from each transfer, so what arrives is less than what was sent. */
export interface TransferFee {
  readonly basisPoints: number
  readonly maximumBaseUnits: bigint
}

const allBasisPoints = 10_000n

/** Fee that Token-2022 withholds from a transfer of this amount: rounded up, and at most its maximum. */
export function feeOf(sentBaseUnits: bigint, fee: TransferFee): bigint {
  const share = divideRoundingUp(sentBaseUnits * BigInt(fee.basisPoints), allBasisPoints)
  return share < fee.maximumBaseUnits ? share : fee.maximumBaseUnits
}

/** The smallest amount to send so that at least this much arrives. */
export function sentForArrival(arrivingBaseUnits: bigint, fee: TransferFee): bigint {
  assert(arrivingBaseUnits >= 0n, 'the arriving amount is not negative')
  // A price of one base unit is burned whole; and where the fee takes everything, nothing is still not something.
  if (arrivingBaseUnits === 0n) return 0n
  const capped = arrivingBaseUnits + fee.maximumBaseUnits
  const left = allBasisPoints - BigInt(fee.basisPoints)
  if (left <= 0n) return capped
  // Below the cap the fee is ⌈sent × bp / 10,000⌉; dividing by what is left of the whole inverts it exactly.
  const uncapped = divideRoundingUp(arrivingBaseUnits * allBasisPoints, left)
  return uncapped < capped ? uncapped : capped
}
