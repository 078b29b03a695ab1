import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { connectLocalChain } from './giveFunds.ts'

export interface TokenFigures {
  /** Total supply of tokens, which each burn reduces. */
  readonly supplyBaseUnits: bigint
  /** Balance of the payment wallet. */
  readonly heldBaseUnits: bigint
}

/** Reads the figures of the chain, for a comparison with the ledger. */
export async function readTokenFigures(
  rpcUrl: string,
  { tokenMint, paymentWallet }: { readonly tokenMint: string; readonly paymentWallet: string },
): Promise<TokenFigures> {
  const chain = connectLocalChain(rpcUrl)
  const mint = new PublicKey(tokenMint)
  const account = getAssociatedTokenAddressSync(mint, new PublicKey(paymentWallet))
  const [supply, held] = await Promise.all([chain.getTokenSupply(mint), chain.getTokenAccountBalance(account)])
  return { supplyBaseUnits: BigInt(supply.value.amount), heldBaseUnits: BigInt(held.value.amount) }
}
