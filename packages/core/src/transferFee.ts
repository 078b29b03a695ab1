import { assert } from './assert.ts'
import { divideRoundingUp, smaller } from './money.ts'

/** Token-2022 withholds this fee from each transfer, so that less than the sent amount arrives. */
export interface TransferFee {
  readonly basisPoints: number
  readonly maximumBaseUnits: bigint
}

const allBasisPoints = 10_000n

/** Token-2022 rounds the fee up, and limits it to the maximum. */
export function feeOf(sentBaseUnits: bigint, fee: TransferFee): bigint {
  const feeBaseUnits = divideRoundingUp(sentBaseUnits * BigInt(fee.basisPoints), allBasisPoints)
  return smaller(feeBaseUnits, fee.maximumBaseUnits)
}

/**
 * Returns the smallest amount to send so that at least this much arrives after the fee. A larger one would overcharge
 * the payer.
 */
export function sentForArrival(arrivingBaseUnits: bigint, fee: TransferFee): bigint {
  assert(arrivingBaseUnits >= 0n, 'the arriving amount is not negative')
  // If nothing has to arrive, nothing is sent.
  if (arrivingBaseUnits === 0n) return 0n
  const cappedBaseUnits = arrivingBaseUnits + fee.maximumBaseUnits
  const left = allBasisPoints - BigInt(fee.basisPoints)
  if (left <= 0n) return cappedBaseUnits
  // Below the maximum the fee is ⌈sent × bp / 10,000⌉. Dividing by the remaining basis points inverts the formula
  // exactly.
  const uncappedBaseUnits = divideRoundingUp(arrivingBaseUnits * allBasisPoints, left)
  return smaller(uncappedBaseUnits, cappedBaseUnits)
}
