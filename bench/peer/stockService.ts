import { Connection, Keypair } from '@solana/web3.js'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { expectAnswer } from './ourService.ts'
import type { PaidService } from './paidLoad.ts'
import { devnet } from './peerSettings.ts'
import { processMs } from './processTime.ts'
import { spawnPeer } from './spawnPeer.ts'

export interface StockService extends PaidService {
  readonly offerUrl: string
  stop(): void
}

const amountBaseUnits = '1000'

/** Stock x402: express, the exact scheme on Solana, and the facilitator in the same process. It stores nothing. */
export async function openStockService(
  { env, chain, demoWallet }: ProofEnvironment,
  upstreamUrl?: string,
): Promise<StockService> {
  const feePayer = Keypair.generate()
  await new Connection(chain.rpcUrl, 'confirmed').requestAirdrop(feePayer.publicKey, 1_000_000_000_000)
  const peer = await spawnPeer({
    rpcUrl: chain.rpcUrl,
    mint: assertPresent(env['TOKEN_MINT'], 'the service has a mint'),
    payTo: assertPresent(env['PAYMENT_WALLET'], 'the service has a payment wallet'),
    amountBaseUnits,
    feePayerSecret: encodeBase58(feePayer.secretKey),
    upstreamUrl,
  })
  const signer = await createKeyPairSignerFromBytes(demoWallet.secretKey)
  const scheme = new ExactSvmScheme(signer, { rpcUrl: chain.rpcUrl })
  const client = new x402Client().register(devnet, scheme).setSpendControls(false)
  const payingFetch = wrapFetchWithPayment(globalThis.fetch, client)
  const offerUrl = `${peer.baseUrl}/api/data/crypto?symbol=BTC`
  return {
    offerUrl,
    call: async () => expectAnswer(await payingFetch(offerUrl)),
    spent: async () => ({ serverMs: await processMs(peer.pid), databaseMs: 0, statements: 0 }),
    stop: () => peer.stop(),
  }
}
