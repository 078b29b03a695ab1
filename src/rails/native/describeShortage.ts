import { formatDecimal } from '@tollbook/core/money'
import type { PayerFunds } from '../../payment/payerFunds.ts'
import { describeToken, type TokenNames } from '../../pricing/tokenNames.ts'

export interface FundsNeeded {
  readonly token: TokenNames
  readonly mint: string
  readonly decimals: number
  readonly baseUnits: bigint
}

const solDecimals = 9
// Network fee for one signature, in lamports.
const feeLamports = 5_000n
// Minimum balance of an account without data, in lamports. After a payment, a wallet must hold at least this balance or
// zero.
const rentLamports = 890_880n

/** Undefined if the wallet can pay. */
export function describeShortage(needed: FundsNeeded, funds: PayerFunds): string | undefined {
  const tokens = funds.baseUnits >= needed.baseUnits ? [] : [tokensText(needed, funds)]
  const leftLamports = funds.lamports - feeLamports
  const sol = leftLamports === 0n || leftLamports >= rentLamports ? [] : [solText(funds)]
  const missing = [...tokens, ...sol]
  return missing.length === 0 ? undefined : `${missing.join('; ')}; nothing was signed`
}

function tokensText({ token, mint, decimals, baseUnits }: FundsNeeded, funds: PayerFunds): string {
  const [has, needs] = [funds.baseUnits, baseUnits].map((amount) => formatDecimal(amount, decimals))
  return `you have ${has} of ${needs} ${describeToken(token, mint)}`
}

function solText({ lamports }: PayerFunds): string {
  const keeps = lamports > feeLamports ? ', and the network keeps at least 0.00089088 SOL in a wallet' : ''
  return `you have ${formatDecimal(lamports, solDecimals)} SOL and need about 0.00001 SOL for the network fee${keeps}`
}
