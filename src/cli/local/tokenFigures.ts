import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import type { LocalJson } from '../localJson.ts'
import { connectLocalChain } from './giveFunds.ts'

export interface TokenFigures {
  /** Each burn reduces the supply. */
  readonly supplyBaseUnits: bigint
  /** Sum of the payment wallet and the tab wallet, because the ledger counts both as one. */
  readonly heldBaseUnits: bigint
}

export async function readTokenFigures(local: LocalJson): Promise<TokenFigures> {
  const { rpcUrl, tokenMint, paymentWallet, tabWallet } = local
  const chain = connectLocalChain(rpcUrl)
  const mint = new PublicKey(tokenMint)
  const wallets = [paymentWallet, ...(tabWallet === undefined ? [] : [tabWallet])]
  const accounts = wallets.map((wallet) => getAssociatedTokenAddressSync(mint, new PublicKey(wallet)))
  const [supply, ...held] = await Promise.all([
    chain.getTokenSupply(mint),
    ...accounts.map((account) => chain.getTokenAccountBalance(account)),
  ])
  const heldBaseUnits = held.reduce((sum, { value }) => sum + BigInt(value.amount), 0n)
  return { supplyBaseUnits: BigInt(supply.value.amount), heldBaseUnits }
}
