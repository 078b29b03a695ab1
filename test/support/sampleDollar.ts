import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { provisionDollar, sampleDollarAccount, sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { connectLocalChain, topUp } from '../../src/cli/local/giveFunds.ts'
import type { TestService } from './testService.ts'

/** The sample dollar on the chain of a test: the payment wallet has an account, and the demo wallet has 1,000 dollars. */
export function sampleDollar() {
  const mintAuthority = Keypair.generate()
  return {
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

/** A new wallet with dollars of the demo wallet, and without the token and SOL. */
export async function walletWithDollars({ chain, demoWallet }: TestService, baseUnits: bigint): Promise<Keypair> {
  const owner = Keypair.generate()
  const [mint, payer] = [new PublicKey(sampleDollarMint), demoWallet.publicKey]
  const from = getAssociatedTokenAddressSync(mint, payer)
  const to = getAssociatedTokenAddressSync(mint, owner.publicKey)
  const transaction = new Transaction().add(
    createAssociatedTokenAccountIdempotentInstruction(payer, to, owner.publicKey, mint),
    createTransferInstruction(from, to, payer, baseUnits),
  )
  await sendAndConfirmTransaction(connectLocalChain(chain.rpcUrl), transaction, [demoWallet])
  return owner
}
