import { divideRoundingUp, larger, parseDecimal } from '@tollbook/core/money'
import { InvalidOption } from './errorCode.ts'
import { attoUsdScale, type Cost } from './spendingLimit.ts'

/** Raises the dollars of a cost to the payer's own value of the tokens, because the service may state too little. */
export type TokenWorth = (cost: Cost, decimals: number) => Cost

export function readTokenWorth(usdPerToken: string | undefined): TokenWorth {
  if (usdPerToken === undefined) return (cost) => cost
  const tokenAttoUsd = parseDecimal(usdPerToken, attoUsdScale)
  if (tokenAttoUsd === undefined || tokenAttoUsd === 0n)
    throw new InvalidOption(`usdPerToken is a plain decimal above zero such as '0.001', not '${usdPerToken}'`)
  return (cost, decimals) => {
    const worthAttoUsd = divideRoundingUp(cost.baseUnits * tokenAttoUsd, 10n ** BigInt(decimals))
    return { ...cost, attoUsd: larger(cost.attoUsd, worthAttoUsd) }
  }
}
