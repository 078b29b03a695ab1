import { divideRoundingUp } from '@tollbook/core/money'
import { sentForArrival } from '@tollbook/core/transferFee'
import type { PayableQuote } from './checkQuote.ts'
import type { MintFacts, TokenFacts } from './payerChain.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'
import type { Cost } from './spendingLimit.ts'

/** A quote that agrees with the chain, and what it takes to pay it. */
export interface PaymentPlan {
  readonly quote: PayableQuote
  /** Amount sent to the payment wallet: more than has to arrive if the mint withholds a fee. */
  readonly sentBaseUnits: bigint
  readonly createsTokenAccount: boolean
  readonly cost: Cost
}

/** Does the chain agree with the offer? A wrong program, mint or fee would move tokens and prove nothing. */
export function planPayment(quote: PayableQuote, facts: TokenFacts): PaymentPlan | QuoteProblem {
  const { mint, paymentTokenAccount } = facts
  if (facts.network !== quote.network)
    return quoteProblem('other_network', `it is for ${quote.network}, and the node of rpcUrl is on ${facts.network}`)
  if (mint === undefined) return quoteProblem('other_mint', `${quote.mint} is not a mint on this chain`)
  if (mint.tokenProgram !== quote.tokenProgram)
    return quoteProblem('token_program_wrong', `the mint belongs to ${mint.tokenProgram}, not ${quote.tokenProgram}`)
  if (mint.decimals !== quote.decimals)
    return quoteProblem('decimals_wrong', `the mint has ${mint.decimals} decimals, not ${quote.decimals}`)
  // An account can be given away by its owner; what is sent there then does not count as paid.
  if (paymentTokenAccount.state === 'present' && paymentTokenAccount.owner !== quote.paymentWallet)
    return quoteProblem('token_account_wrong', `its token account belongs to ${paymentTokenAccount.owner}`)
  const sentBaseUnits = sentAmount(quote, mint)
  if (typeof sentBaseUnits !== 'bigint') return sentBaseUnits
  const createsTokenAccount = paymentTokenAccount.state === 'absent'
  return { quote, sentBaseUnits, createsTokenAccount, cost: costOf(quote, sentBaseUnits) }
}

/**
 * The fee comes from the mint itself: with too high a fee the service would get the difference, with too low a one the
 * payment would be short.
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

/** The fee of the mint is the payer's too, so it counts against the limit in the proportion of the tokens. */
function costOf({ priceAttoUsd, requiredBaseUnits, burnBaseUnits }: PayableQuote, sentBaseUnits: bigint): Cost {
  const baseUnits = burnBaseUnits + sentBaseUnits
  return { baseUnits, attoUsd: divideRoundingUp(priceAttoUsd * baseUnits, requiredBaseUnits) }
}
