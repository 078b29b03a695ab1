import { Keypair, PublicKey } from '@solana/web3.js'
import { provisionDollar, sampleDollarAccount, sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { connectLocalChain, topUp } from '../../src/cli/local/giveFunds.ts'
import type { TestService } from './testService.ts'

/** The sample dollar on the chain of a test: the payment wallet has an account, and the demo wallet has 1,000 dollars. */
export function sampleDollar() {
  const mintAuthority = Keypair.generate()
  return {
    mints: [sampleDollarMint],
    mintAuthority,
    async provision({ chain, demoWallet, tabWallet }: TestService, paymentWallet: string): Promise<void> {
      chain.placeAccount(sampleDollarAccount(mintAuthority))
      const wallets = {
        mintAuthority,
        paymentWallet: new PublicKey(paymentWallet),
        tabWallet: tabWallet.publicKey,
        demoWallet: demoWallet.publicKey,
      }
      await topUp(connectLocalChain(chain.rpcUrl), mintAuthority.publicKey)
      await provisionDollar(chain.rpcUrl, wallets)
    },
  }
}
