import { splTokenProgram } from '@tollbook/core/programs'
import { findShortage, type FundsNeeded } from './insufficientFunds.ts'
import type { PayerChain } from './payerChain.ts'
import type { PayerWallet } from './payerWallet.ts'
import type { PaymentPlan } from './planPayment.ts'
import { associatedTokenAccount } from './solana/programAddress.ts'
import type { SponsoredPlan } from './sponsored/planSponsored.ts'

interface FundsDeps {
  readonly chain: Pick<PayerChain, 'readHoldings' | 'rentLamports'>
  readonly wallet: Pick<PayerWallet, 'address'>
}

export async function requireFunds(deps: FundsDeps, plan: PaymentPlan): Promise<void> {
  const { chain } = deps
  const { quote, cost } = plan
  const [accountLamports, rentLamports] = await Promise.all([
    plan.createsTokenAccount ? chain.rentLamports(tokenAccountBytes(plan)) : 0n,
    chain.rentLamports(0),
  ])
  const sol = { requiredLamports: networkFeeLamports + accountLamports, rentLamports }
  await check(deps, { ...quote, requiredBaseUnits: cost.baseUnits, sol })
}

/** Ignores SOL, because the service pays the network fee. */
export function requireTokens(deps: FundsDeps, { token, offer }: SponsoredPlan): Promise<void> {
  return check(deps, { ...token, requiredBaseUnits: offer.amountBaseUnits, sol: undefined })
}

async function check(
  { chain, wallet: { address } }: FundsDeps,
  needed: FundsNeeded & { readonly tokenProgram: string },
): Promise<void> {
  const tokenAccount = associatedTokenAccount({ ...needed, wallet: address })
  const shortage = findShortage(needed, await chain.readHoldings({ wallet: address, tokenAccount }))
  if (shortage !== undefined) throw shortage
}

// Network fee of one signature, in lamports.
const networkFeeLamports = 5_000n

/**
 * Returns the size of a new token account. Token-2022 adds the immutable-owner extension, and for mints with a fee the
 * withheld amount.
 */
function tokenAccountBytes({ quote }: PaymentPlan): number {
  if (quote.tokenProgram === splTokenProgram) return 165
  return quote.transferWithFeeBaseUnits === undefined ? 170 : 182
}
