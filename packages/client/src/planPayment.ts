import { divideRoundingUp } from '@tollbook/core/money'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PayableQuote } from './checkQuote.ts'
import type { MintFacts, TokenFacts } from './payerChain.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'
import type { Cost } from './spendingLimit.ts'

/** A quote that agrees with the chain, and the amounts to pay it. */
export interface PaymentPlan {
  readonly quote: PayableQuote
  /** Amount to send to the payment wallet. It exceeds the amount to arrive by the fee that the mint withholds. */
  readonly sentBaseUnits: bigint
  readonly createsTokenAccount: boolean
  readonly cost: Cost
}

/** Compares the offer with the chain. A wrong program, mint or fee would move tokens and prove nothing. */
export function planPayment(quote: PayableQuote, facts: TokenFacts): PaymentPlan | QuoteProblem {
  const { mint, paymentTokenAccount } = facts
  if (facts.network !== quote.network)
    return quoteProblem('other_network', `it is for ${quote.network}, and the node of rpcUrl is on ${facts.network}`)
  if (mint === undefined) return quoteProblem('other_mint', `${quote.mint} is not a mint on this chain`)
  if (mint.tokenProgram !== quote.tokenProgram)
    return quoteProblem('token_program_wrong', `the mint belongs to ${mint.tokenProgram}, not ${quote.tokenProgram}`)
  if (mint.decimals !== quote.decimals)
    return quoteProblem('decimals_wrong', `the mint has ${mint.decimals} decimals, not ${quote.decimals}`)
  // The owner can give an account away; tokens sent there would not count as paid.
  if (paymentTokenAccount.state === 'present' && paymentTokenAccount.owner !== quote.paymentWallet)
    return quoteProblem('token_account_wrong', `its token account belongs to ${paymentTokenAccount.owner}`)
  const sentBaseUnits = sentAmount(quote, mint)
  if (typeof sentBaseUnits !== 'bigint') return sentBaseUnits
  const createsTokenAccount = paymentTokenAccount.state === 'absent'
  return { quote, sentBaseUnits, createsTokenAccount, cost: costOf(quote, sentBaseUnits) }
}

/**
 * Reads the fee from the mint: a fee that the service overstates would go to the service, and one that it understates
 * would leave the payment short.
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

/** The payer also pays the mint's fee, so it counts against the limit in proportion. */
function costOf({ priceAttoUsd, requiredBaseUnits, burnBaseUnits }: PayableQuote, sentBaseUnits: bigint): Cost {
  const baseUnits = burnBaseUnits + sentBaseUnits
  return { baseUnits, attoUsd: divideRoundingUp(priceAttoUsd * baseUnits, requiredBaseUnits) }
}
