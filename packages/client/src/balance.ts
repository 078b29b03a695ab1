import { readAddress } from '@tollbook/core/address'
import { splTokenProgram } from '@tollbook/core/programs'
import { InvalidOption } from './errorCode.ts'
import { connectPayerChain } from './payerChain.ts'
import { associatedTokenAccount } from './solana/programAddress.ts'

export interface BalanceQuestion {
  readonly rpcUrl: string
  readonly wallet: string
  readonly mint: string
}

/** Balance of a wallet: tokens of one mint, and the lamports that pay network fees. */
export interface Balance {
  readonly heldBaseUnits: bigint
  readonly decimals: number
  readonly lamports: bigint
}

/**
 * Reads the lamports of a wallet and the tokens in its associated token account. Throws a `Fault` if the node does not
 * answer. Throws `InvalidOption` for a wrong address, or if the mint is not on the chain of the node.
 *
 * @example
 *   import { readBalance } from '@tollbook/client/node'
 *
 *   const { heldBaseUnits, decimals } = await readBalance({
 *     rpcUrl: 'https://api.mainnet-beta.solana.com',
 *     wallet: 'the address of the wallet',
 *     mint: 'the mint that it pays in',
 *   })
 *   console.log(`${heldBaseUnits} base units of 10^-${decimals} tokens`)
 */
export async function readBalance({ rpcUrl, wallet, mint }: BalanceQuestion): Promise<Balance> {
  const [owner, token] = [readAddress(wallet), readAddress(mint)]
  if (owner === undefined || token === undefined) throw new InvalidOption(`${wallet} or ${mint} is not an address`)
  const chain = connectPayerChain({ rpcUrl })
  const accountOf = (tokenProgram: string) => associatedTokenAccount({ wallet: owner, mint: token, tokenProgram })
  const { mint: facts } = await chain.readToken({ mint: token, paymentTokenAccount: accountOf(splTokenProgram) })
  if (facts === undefined) throw new InvalidOption(`${mint} is not a mint on the chain of ${rpcUrl}`)
  const { tokenProgram, decimals } = facts
  const { heldBaseUnits, lamports } = await chain.readHoldings({ wallet: owner, tokenAccount: accountOf(tokenProgram) })
  return { heldBaseUnits, decimals, lamports }
}
