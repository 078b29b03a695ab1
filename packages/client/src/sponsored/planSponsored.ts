import { splTokenProgram } from '@tollbook/core/programs'
import { type SignedPayment, signWith } from '../buildPayment.ts'
import type { QuotePins } from '../checkQuote.ts'
import { dollarCost } from '../dollarMints.ts'
import type { PayerChain } from '../payerChain.ts'
import type { PayerWallet } from '../payerWallet.ts'
import { type QuoteProblem, quoteProblem } from '../quoteProblem.ts'
import { associatedTokenAccount } from '../solana/programAddress.ts'
import {
  memoInstruction,
  setComputeUnitLimit,
  setComputeUnitPrice,
  type Token,
  transferChecked,
} from '../solana/instructions.ts'
import { buildTransaction, signatureOf } from '../solana/transaction.ts'
import type { Cost } from '../spendingLimit.ts'
import type { TokenWorth } from '../tokenWorth.ts'
import type { SponsoredOffer } from './sponsoredOffer.ts'

export interface SponsoredPlan {
  readonly offer: SponsoredOffer
  readonly token: Token
  readonly destination: string
  /** Offers of these protocols state no price in dollars, so the payer's own value of the token counts. */
  readonly cost: Cost
}

export interface SponsorDeps {
  readonly worth: TokenWorth
  readonly chain: Pick<PayerChain, 'readToken' | 'latestBlockhash'>
  readonly wallet: PayerWallet
  readonly pins: QuotePins
  readonly dollarMints: readonly string[]
}

export async function planSponsored(deps: SponsorDeps, offer: SponsoredOffer): Promise<SponsoredPlan | QuoteProblem> {
  const { wallet, pins, dollarMints } = deps
  const { mint, payTo, feePayer, network, lifetimeMs } = offer
  const isDollar = dollarMints.includes(mint)
  if (mint !== pins.expectedMint && !isDollar)
    return quoteProblem('other_mint', `it names ${mint}, and ${pins.expectedMint} is expected`)
  if (pins.expectedPaymentWallet !== undefined && payTo !== pins.expectedPaymentWallet)
    return quoteProblem('other_payment_wallet', `it names ${payTo}, and ${pins.expectedPaymentWallet} is expected`)
  if (feePayer === wallet.address || payTo === wallet.address)
    return quoteProblem('malformed', 'it names the payer as its fee payer or recipient')
  if (lifetimeMs <= 0) return quoteProblem('expired', 'its end is in the past')
  const found = await readToken(deps, offer)
  if ('problem' in found) return found
  // Prefer `expectedNetwork`, because a service on a private chain may use another name for the network.
  const known = pins.expectedNetwork ?? found.network
  if (network !== undefined && network !== known)
    return quoteProblem('other_network', `it is for ${network}, and the node of rpcUrl is on ${known}`)
  const { decimals } = found.token
  const { amountBaseUnits: baseUnits } = offer
  const cost = isDollar ? dollarCost(baseUnits, decimals) : deps.worth({ baseUnits, attoUsd: 0n }, decimals)
  return { offer, token: found.token, destination: found.destination, cost }
}

async function readToken({ chain }: SponsorDeps, { mint, payTo }: SponsoredOffer) {
  const accountOf = (tokenProgram: string) => associatedTokenAccount({ wallet: payTo, mint, tokenProgram })
  const classic = accountOf(splTokenProgram)
  const first = await chain.readToken({ mint, paymentTokenAccount: classic })
  if (first.mint === undefined) return quoteProblem('other_mint', `${mint} is not a mint on this chain`)
  const { tokenProgram, decimals } = first.mint
  const destination = accountOf(tokenProgram)
  const facts = destination === classic ? first : await chain.readToken({ mint, paymentTokenAccount: destination })
  const account = facts.paymentTokenAccount
  if (account.state === 'absent')
    return quoteProblem('token_account_missing', `${payTo} has no token account, and the service must create it`)
  if (account.owner !== payTo)
    return quoteProblem('token_account_wrong', `its token account belongs to ${account.owner}`)
  return { network: facts.network, token: { mint, tokenProgram, decimals }, destination }
}

// Compute limits of the standard clients of both protocols. The order of the instructions is also the order of these
// clients, because a service may compare it.
const unitsByProtocol = { x402: 20_000, mpp: 200_000 } as const
const microLamports = 1n

/**
 * Signs the payment for the payer, and does not send it. It cannot land without the signature of the fee payer, which
 * comes first on chain.
 */
export async function signSponsored(deps: SponsorDeps, plan: SponsoredPlan): Promise<SignedPayment> {
  const { offer, token, destination } = plan
  const { address } = deps.wallet
  const { blockhash, lastValidBlockHeight } = await deps.chain.latestBlockhash()
  const budget = [setComputeUnitLimit(unitsByProtocol[offer.protocol]), setComputeUnitPrice(microLamports)]
  const account = associatedTokenAccount({ ...token, wallet: address })
  const amount = { account, authority: address, baseUnits: offer.amountBaseUnits }
  const instructions = [
    ...(offer.protocol === 'mpp' ? budget.toReversed() : budget),
    transferChecked(token, amount, destination),
    ...(offer.memo === undefined ? [] : [memoInstruction(offer.memo)]),
  ]
  const unsigned = buildTransaction({ feePayer: offer.feePayer, blockhash, instructions })
  return { ...(await signWith(deps.wallet, unsigned, signatureOf)), lastValidBlockHeight }
}
