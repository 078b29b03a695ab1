import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import { readAddress } from '@tollbook/core/address'
import type { ChainReader } from '../payment/chainReader.ts'
import type { FinalityReader } from '../payment/finalityReader.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { readPaymentTerms } from './readPaymentTerms.ts'
import { createRpcClient, type RpcClientDeps } from './rpcClient.ts'
import { type Commitment, createSolanaChainReader } from './solanaChainReader.ts'
import { createSolanaFinalityReader } from './solanaFinalityReader.ts'

export interface ChainOptions extends Pick<RpcClientDeps, 'postJson' | 'onCall'> {
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly commitment: Commitment
  readonly log: Log
}

export interface Chain {
  readonly reader: ChainReader
  readonly finality: FinalityReader
  readonly terms: PaymentTerms
  latestBlockhash(): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: number }>
  /** Reads the terms again: a mint can change while we sell for it. */
  readTerms(): Promise<PaymentTerms>
}

const blockhashJson = z.object({ value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.int() }) })

// A node that takes longer is as good as gone; there may be another one.
const timeoutMs = 5_000

/** Reads the terms of payment from the chain, and makes sure that all nodes are on the same one. */
export async function openChain(options: ChainOptions): Promise<Chain> {
  const { rpcUrls, postJson, log, onCall, commitment } = options
  const mint = readAddress(options.tokenMint)
  const paymentWallet = readAddress(options.paymentWallet)
  if (mint === undefined || paymentWallet === undefined)
    throw new Fault('TOKEN_MINT and PAYMENT_WALLET must be addresses', { retryable: false })

  const clientOf = (urls: readonly string[]) =>
    createRpcClient({ urls, postJson, timeoutMs, log, ...(onCall === undefined ? {} : { onCall }) })
  const rpc = clientOf(rpcUrls)
  const readTerms = () => readPaymentTerms(rpc, { mint, paymentWallet })
  const terms = await readTerms()
  for (const [index, url] of rpcUrls.entries()) {
    const hash = await clientOf([url])
      .call('getGenesisHash', [], z.string())
      .catch(() => undefined)
    // One that does not answer now may do so later; one of another network must never be asked about money.
    if (hash !== undefined && !terms.network.endsWith(hash.slice(0, 32))) {
      throw new Fault(`node ${index + 1} of SOLANA_RPC_URLS is on another network than the first`, { retryable: false })
    }
  }
  const reader = createSolanaChainReader({ rpc, mint, commitment })
  const latestBlockhash = async () => {
    const { value } = await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], blockhashJson)
    return value
  }
  return { terms, readTerms, reader, finality: createSolanaFinalityReader(rpc), latestBlockhash }
}
