import { Keypair } from '@solana/web3.js'
import { type LocalWallets, provisionChain } from '../../src/cli/local/provisionChain.ts'

/** New wallets on a new local chain: the service token, the payment wallet, and a payer with tokens. */
export async function provisionWallets(chain: Parameters<typeof provisionChain>[0]): Promise<LocalWallets> {
  const wallets = {
    mint: Keypair.generate(),
    mintAuthority: Keypair.generate(),
    paymentWallet: Keypair.generate(),
    demoWallet: Keypair.generate(),
  }
  await provisionChain(chain, wallets)
  return wallets
}
