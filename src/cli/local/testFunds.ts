import { fundWallet } from '@tollbook/client/faucet'
import type { ServiceConfig } from '../../config.ts'
import type { Home } from './home.ts'

// Enough for each product once.
const tokens = '1000'
const sol = '0.1'

/** Funds the wallets that the pages of local mode make. Works on a chain of this machine only. */
export async function openTestFunds(
  home: Home,
  { rpcUrls, tokenMint: mint }: Omit<ServiceConfig['chain'], 'commitment'>,
) {
  const [rpcUrl = ''] = rpcUrls
  const { keypair } = await home.keypair('mint-authority')
  return async (address: string): Promise<string | undefined> => {
    const given = await fundWallet({ rpcUrl, mint, mintAuthority: keypair.secretKey }, { address, tokens, sol })
    return 'field' in given ? given.message : undefined
  }
}
