import { z } from 'zod'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import { readAddress } from '@tollbook/core/address'
import type { ChainReader } from '../payment/chainReader.ts'
import type { FinalityReader } from '../payment/finalityReader.ts'
import { type Dollar, type DollarSetting, mintOn } from '../payment/dollar.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import type { TransferFee } from '@tollbook/core/transferFee'
import { type AccountsQuestion, type ChainAccount, readAccounts } from './accountStates.ts'
import { createNodeRegistry, type NodeRegistry, type NodeRegistryDeps } from './nodeRegistry.ts'
import { defaultNodeLimits, type NodeLimits } from './nodeStanding.ts'
import { readPaymentTerms, type TermsReading, type TermsQuestion } from './readPaymentTerms.ts'
import type { RpcClient } from './nodeClient.ts'
import { createRpcClient } from './rpcClient.ts'
import type { Commitment } from './commitment.ts'
import { createSolanaChainReader } from './solanaChainReader.ts'
import { createSolanaFinalityReader } from './solanaFinalityReader.ts'

export interface ChainOptions extends Pick<NodeRegistryDeps, 'postJson' | 'metrics'> {
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly currencies?: readonly DollarSetting[]
  readonly commitment: Commitment
  readonly log: Log
  readonly limits?: Partial<NodeLimits> | undefined
  readonly clock?: Clock
}

export interface Chain {
  readonly reader: ChainReader
  readonly finality: FinalityReader
  readonly nodes: NodeRegistry
  /** Terms of the service token. Each of `dollars` has separate terms. */
  readonly terms: PaymentTerms
  /** Dollar tokens in the order of CURRENCIES. */
  readonly dollars: readonly Dollar[]
  readonly clockSkewMaxMs: number
  latestBlockhash(): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: number }>
  /** Keeps the order of the addresses. Undefined for an address without an account. */
  readAccounts(question: AccountsQuestion): Promise<readonly (ChainAccount | undefined)[]>
  /** Reads the terms again, because a mint can change during sales. Afterwards `terms` has the new transfer fee. */
  readTerms(): Promise<PaymentTerms>
}

const blockhashJson = z.object({ value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.int() }) })

// A node that takes longer counts as failed.
const timeoutMs = 5_000

/** Names SOLANA_RPC_URLS in the error, because a missing answer at the start usually means a wrong address. */
function nameSetting(error: unknown): never {
  if (!(error instanceof Fault && error.retryable)) throw error
  throw new Fault('no node of SOLANA_RPC_URLS answers', { cause: error, retryable: true })
}

/** Throws if a node answers that is on another network than the first that answered. */
export async function openChain(options: ChainOptions): Promise<Chain> {
  const { rpcUrls: urls, log, commitment, clock = systemClock } = options
  const limits = { ...defaultNodeLimits, ...options.limits }
  const mint = readAddress(options.tokenMint)
  const paymentWallet = readAddress(options.paymentWallet)
  if (mint === undefined || paymentWallet === undefined)
    throw new Fault('TOKEN_MINT and PAYMENT_WALLET must be addresses', { retryable: false })

  const nodes = createNodeRegistry({ ...options, urls, timeoutMs, limits, clock })
  await nodes.poll()
  // Accept a node that does not answer now, because it may answer later. A node of another network must never be used.
  const foreign = nodes.standings().find(({ problem }) => problem?.includes('another network'))
  if (foreign !== undefined)
    throw new Fault(`${foreign.name} of SOLANA_RPC_URLS is on another network than the first`, { retryable: false })
  const deps = { nodes, log, clock, mint, commitment }
  const rpc = createRpcClient(deps)
  const latestBlockhash = async () => {
    const { value } = await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], blockhashJson)
    return value
  }
  const ofToken = await readLiveTerms({ rpc, log, question: { mint, paymentWallet } })
  return {
    ...ofToken,
    dollars: await Promise.all((options.currencies ?? []).map((each) => readDollar(rpc, ofToken.terms, each))),
    nodes,
    clockSkewMaxMs: limits.clockSkewMaxMs,
    reader: createSolanaChainReader(deps),
    finality: createSolanaFinalityReader(deps),
    latestBlockhash,
    readAccounts: (question) => readAccounts(rpc, question),
  }
}

interface LiveTermsDeps {
  readonly rpc: RpcClient
  readonly log: Log
  readonly question: TermsQuestion
}

/**
 * Uses the highest fee that is in effect or announced. A higher fee is announced at least one epoch (days) ahead and
 * counts at once, so that quotes with the lower fee expire before the change. A lower fee counts once it is in effect.
 */
async function readLiveTerms({ rpc, log, question }: LiveTermsDeps): Promise<Pick<Chain, 'terms' | 'readTerms'>> {
  const first = await readPaymentTerms(rpc, question).catch(nameSetting)
  let { transferFee } = first
  const live = ({ terms }: TermsReading): PaymentTerms => ({ ...terms, transferFee: () => transferFee })
  return {
    terms: live(first),
    async readTerms() {
      const found = await readPaymentTerms(rpc, question)
      const [before, after] = [describeFee(transferFee), describeFee(found.transferFee)]
      if (before !== after) log.warn({ event: 'transfer_fee_changed', before, after })
      transferFee = found.transferFee
      return live(found)
    },
  }
}

/** Refuses TOKEN_MINT, and a token with a transfer fee, because its payments would not arrive whole. */
async function readDollar(rpc: RpcClient, token: PaymentTerms, currency: DollarSetting): Promise<Dollar> {
  const { network } = token
  const found = mintOn(network, currency)
  if (typeof found === 'string') throw new Fault(found, { retryable: false })
  const { wallet: paymentWallet = token.paymentWallet, ...setting } = currency
  const question = { mint: found.mint, paymentWallet, setting: `CURRENCIES: ${currency.symbol}` }
  const { terms, transferFee } = await readPaymentTerms(rpc, question)
  const flaw =
    transferFee !== undefined
      ? 'it withholds a transfer fee'
      : found.mint === token.mint
        ? 'it is TOKEN_MINT'
        : undefined
  if (flaw !== undefined) throw new Fault(`${question.setting} cannot be used: ${flaw}`, { retryable: false })
  return { ...setting, terms }
}

function describeFee(fee: TransferFee | undefined): string {
  return fee === undefined ? 'none' : `${fee.basisPoints} basis points, at most ${fee.maximumBaseUnits} base units`
}
