import { divideRoundingUp } from '@tollbook/core/money'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PayableQuote } from './checkQuote.ts'
import type { MintFacts, TokenFacts } from './payerChain.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'
import type { Cost } from './spendingLimit.ts'

export interface PaymentPlan {
  readonly quote: PayableQuote
  /** Amount to send to the payment wallet: the amount that must arrive, plus the fee that the mint withholds. */
  readonly sentBaseUnits: bigint
  readonly createsTokenAccount: boolean
  readonly cost: Cost
}

/**
 * Compares the offer with the chain. With a wrong program, mint or fee, tokens would move without counting as a
 * payment.
 */
export function planPayment(quote: PayableQuote, facts: TokenFacts): PaymentPlan | QuoteProblem {
  const { mint, paymentTokenAccount } = facts
  if (facts.network !== quote.network)
    return quoteProblem('other_network', `it is for ${quote.network}, and the node of rpcUrl is on ${facts.network}`)
  if (mint === undefined) return quoteProblem('other_mint', `${quote.mint} is not a mint on this chain`)
  if (mint.tokenProgram !== quote.tokenProgram)
    return quoteProblem('token_program_wrong', `the mint belongs to ${mint.tokenProgram}, not ${quote.tokenProgram}`)
  if (mint.decimals !== quote.decimals)
    return quoteProblem('decimals_wrong', `the mint has ${mint.decimals} decimals, not ${quote.decimals}`)
  // Check the owner, because the owner of an account can change: tokens sent to another owner would not count as paid.
  if (paymentTokenAccount.state === 'present' && paymentTokenAccount.owner !== quote.paymentWallet)
    return quoteProblem('token_account_wrong', `its token account belongs to ${paymentTokenAccount.owner}`)
  const sentBaseUnits = sentAmount(quote, mint)
  if (typeof sentBaseUnits !== 'bigint') return sentBaseUnits
  const createsTokenAccount = paymentTokenAccount.state === 'absent'
  return { quote, sentBaseUnits, createsTokenAccount, cost: costOf(quote, sentBaseUnits) }
}

/**
 * Returns the amount to send, if it fits the fee of the mint. If the service overstated the fee, it would keep the
 * difference. If it understated the fee, too little would arrive.
 */
function sentAmount(quote: PayableQuote, { transferFee }: MintFacts): bigint | QuoteProblem {
  const { transferBaseUnits, transferWithFeeBaseUnits } = quote
  const sentBaseUnits = transferWithFeeBaseUnits ?? transferBaseUnits
  const charged = transferFee !== undefined && transferBaseUnits > 0n
  const leastBaseUnits = charged ? sentForArrival(transferBaseUnits, transferFee.now) : transferBaseUnits
  const mostBaseUnits = charged ? sentForArrival(transferBaseUnits, transferFee.most) : transferBaseUnits
  if (sentBaseUnits >= leastBaseUnits && sentBaseUnits <= mostBaseUnits) return sentBaseUnits
  const fits = leastBaseUnits === mostBaseUnits ? `${leastBaseUnits}` : `${leastBaseUnits} to ${mostBaseUnits}`
  return quoteProblem(
    'transfer_fee_wrong',
    `${sentBaseUnits} base units are to be sent, and with the fee of the mint ${fits} make ${transferBaseUnits} arrive`,
  )
}

/** Includes the mint's fee, which the payer also pays: the cost in dollars grows in proportion. */
function costOf({ priceAttoUsd, requiredBaseUnits, burnBaseUnits }: PayableQuote, sentBaseUnits: bigint): Cost {
  const baseUnits = burnBaseUnits + sentBaseUnits
  return { baseUnits, attoUsd: divideRoundingUp(priceAttoUsd * baseUnits, requiredBaseUnits) }
}
