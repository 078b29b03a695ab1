import { Keypair } from '@solana/web3.js'
import type { Home } from '../../src/cli/local/home.ts'
import { connectLocalChain } from '../../src/cli/local/giveFunds.ts'
import { type LocalWallets, provisionChain } from '../../src/cli/local/provisionChain.ts'

/**
 * Wallets on a local chain: the service token, the payment wallet, and a payer with tokens. New ones, or those of a
 * home.
 */
export async function provisionWallets({ rpcUrl }: { readonly rpcUrl: string }, home?: Home): Promise<LocalWallets> {
  const keypair = async (name: string) => (await home?.keypair(name))?.keypair ?? Keypair.generate()
  const wallets = {
    mint: await keypair('token-mint'),
    mintAuthority: await keypair('mint-authority'),
    paymentWallet: await keypair('payment-wallet'),
    tabWallet: await keypair('tab-wallet'),
    demoWallet: await keypair('demo-wallet'),
  }
  await provisionChain(connectLocalChain(rpcUrl), wallets)
  return wallets
}
