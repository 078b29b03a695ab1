import { TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { giveFunds } from '../../../src/cli/local/giveFunds.ts'
import { openPaymentFolder } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { createPayingFetch, type PayingFetch } from '@tollbook/client/payingFetch'
import { sponsoredProtocols } from '@tollbook/client/sponsored/sponsoredOffer'
import { devnet } from './sponsoredServer.ts'
import { openTokenChain } from './tokenChain.ts'

export const costBaseUnits = 20_000_000n

/** A payer of services of x402 and MPP on the local chain. Its balance tells how many payments there were. */
export async function openSponsoredScene() {
  const token = await openTokenChain({ program: TOKEN_PROGRAM_ID })
  const feePayer = Keypair.generate()
  const options = { rpcUrl: token.chain.rpcUrl, mint: token.mint.toBase58(), mintAuthority: token.mintAuthority }
  // These services have a token account. A payment by these protocols never creates one.
  await giveFunds(options, { address: token.paymentWallet.toBase58(), tokens: '1', sol: '0' })
  await giveFunds(options, { address: feePayer.publicKey.toBase58(), tokens: '0', sol: '1' })

  const start = (folder: string, more: Partial<PayingFetchOptions> = {}): PayingFetch =>
    createPayingFetch({
      wallet: keypairWallet(token.payer),
      rpcUrl: token.chain.rpcUrl,
      protocols: sponsoredProtocols,
      expectedMint: token.mint.toBase58(),
      // The services call the local chain devnet, as their stock libraries know no other.
      expectedNetwork: devnet,
      spendingLimit: { perRequest: { baseUnits: costBaseUnits } },
      store: openPaymentFolder(folder),
      ...more,
    })

  async function heldBaseUnits(): Promise<bigint> {
    const { connection, payer, mint } = token
    const { value } = await connection.getTokenAccountsByOwner(payer.publicKey, { mint }, 'confirmed')
    return value.reduce((sum, { account }) => sum + account.data.readBigUInt64LE(64), 0n)
  }

  async function countPayments<T>(work: () => Promise<T>): Promise<{ readonly outcome: T; readonly payments: bigint }> {
    const before = await heldBaseUnits()
    const outcome = await work()
    return { outcome, payments: (before - (await heldBaseUnits())) / costBaseUnits }
  }
  return { token, feePayer, start, countPayments }
}

export type SponsoredScene = Awaited<ReturnType<typeof openSponsoredScene>>
