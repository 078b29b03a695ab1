import type { ServiceConfig } from '../../config.ts'
import type { Home } from './home.ts'
import { provisionChain } from './provisionChain.ts'

export interface ChainUrls {
  readonly rpcUrl: string
  readonly wsUrl: string
}

export interface ProvisionedChain {
  readonly chain: Omit<ServiceConfig['chain'], 'commitment'>
  /** For `local.json`: where the chain is, and whose keys are in the home. */
  readonly facts: object
}

/** Puts the mint and the wallets of this home on a local chain that runs. A second time finds everything in place. */
export async function provisionFromHome(home: Home, { rpcUrl, wsUrl }: ChainUrls): Promise<ProvisionedChain> {
  const [mint, mintAuthority, paymentWallet, demoWallet] = await Promise.all([
    home.keypair('token-mint'),
    home.keypair('mint-authority'),
    home.keypair('payment-wallet'),
    home.keypair('demo-wallet'),
  ])
  await provisionChain(
    { rpcUrl, wsUrl },
    {
      mint: mint.keypair,
      mintAuthority: mintAuthority.keypair,
      paymentWallet: paymentWallet.keypair,
      demoWallet: demoWallet.keypair,
    },
  )
  return {
    chain: {
      rpcUrls: [rpcUrl],
      tokenMint: mint.keypair.publicKey.toBase58(),
      paymentWallet: paymentWallet.keypair.publicKey.toBase58(),
    },
    facts: {
      rpcUrl,
      wsUrl,
      paymentWalletKeypairPath: paymentWallet.path,
      demoWallet: { address: demoWallet.keypair.publicKey.toBase58(), keypairPath: demoWallet.path },
      mintAuthorityKeypairPath: mintAuthority.path,
    },
  }
}
