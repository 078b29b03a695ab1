import { Connection, Keypair } from '@solana/web3.js'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { charge, Mppx } from '@solana/mpp/client'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { fundWallets } from '../../test/proofs/rendering/fundPayers.ts'
import { expectAnswer } from '../peer/ourService.ts'
import type { PaidService } from '../peer/paidLoad.ts'
import { processMs } from '../peer/processTime.ts'
import { spawnPeer } from '../peer/spawnPeer.ts'

export interface ProxyService extends PaidService {
  stop(): void
}

/** The API behind `mppx/proxy`, bought by the stock client of MPP on Solana. It stores nothing. */
export async function openProxyService(
  environment: ProofEnvironment,
  { upstreamUrl, callers }: { readonly upstreamUrl: string; readonly callers: number },
): Promise<ProxyService> {
  const { env, chain } = environment
  const feePayer = Keypair.generate()
  await new Connection(chain.rpcUrl, 'confirmed').requestAirdrop(feePayer.publicKey, 1_000_000_000_000)
  const settings = {
    rpcUrl: chain.rpcUrl,
    mint: assertPresent(env['TOKEN_MINT'], 'the service has a mint'),
    payTo: assertPresent(env['PAYMENT_WALLET'], 'the service has a payment wallet'),
    amountBaseUnits: '1000',
    feePayerSecret: encodeBase58(feePayer.secretKey),
    upstreamUrl,
  }
  const proxy = await spawnPeer(settings, 'proxyProcess.ts')
  // Each caller has a wallet: two payments of one wallet under one blockhash would be the same transaction.
  const clients = await Promise.all(
    (await fundWallets(environment, callers)).map(async ({ secretKey }) => {
      const signer = await createKeyPairSignerFromBytes(secretKey)
      return Mppx.create({ methods: [charge({ signer, rpcUrl: chain.rpcUrl })], polyfill: false })
    }),
  )
  return {
    async call() {
      const client = assertPresent(clients.pop(), 'there is a wallet for each caller')
      try {
        await expectAnswer(await client.fetch(`${proxy.baseUrl}/acme/items/a1`))
      } finally {
        clients.push(client)
      }
    },
    spent: async () => ({ serverMs: await processMs(proxy.pid), databaseMs: 0, statements: 0 }),
    stop: () => proxy.stop(),
  }
}
