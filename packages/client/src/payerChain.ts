import { z } from 'zod'
import type { Address } from '@tollbook/core/address'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { tokenPrograms } from '@tollbook/core/programs'
import type { TransferFee } from '@tollbook/core/transferFee'
import { divideRoundingDown, larger } from '@tollbook/core/money'
import { defaultFetch } from './defaultFetch.ts'
import { PayerFault } from './errorCode.ts'
import { readMintState, readTokenAccountState, type ScheduledFee } from './solana/tokenState.ts'
import { createSolanaRpc, type Fetch, type SolanaRpc } from './solanaRpc.ts'

export interface PayerChain {
  readToken(question: TokenQuestion): Promise<TokenFacts>
  /**
   * Returns the decimals of a mint, from a cache if they are known, because they never change. Undefined if the address
   * is not a mint on this chain.
   */
  readDecimals(question: TokenQuestion): Promise<number | undefined>
  readHoldings(question: HoldingsQuestion): Promise<Holdings>
  /**
   * Returns the minimum balance, in lamports, of an account with this many bytes of data. A payment must leave its fee
   * payer the minimum for 0 bytes, or nothing.
   */
  rentLamports(bytes: number): Promise<bigint>
  latestBlockhash(): Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: number }>
  send(transaction: Uint8Array, options: { readonly preflight: boolean }): Promise<void>
  /** Reads the status of a transaction at this slot or later. Throws if the node has not reached the slot. */
  findStatus(signature: string, sinceSlot?: number): Promise<LandingStatus>
  /** Reads slot and height of the newest final block, which no fork can undo. */
  finalizedTip(): Promise<{ readonly slot: number; readonly height: number }>
}

export interface TokenQuestion {
  readonly mint: Address
  readonly paymentTokenAccount: Address
}

/** Facts about a token that the payer reads from the chain, instead of trusting the service. */
export interface TokenFacts {
  /** Network in CAIP-2 form: `solana:` and the first 32 characters of the genesis hash. */
  readonly network: string
  readonly mint: MintFacts | undefined
  readonly paymentTokenAccount: { readonly state: 'absent' } | { readonly state: 'present'; readonly owner: string }
}

export interface HoldingsQuestion {
  readonly wallet: string
  readonly tokenAccount: Address
}

export interface Holdings {
  /** Zero if the token account does not exist, or if it belongs to another wallet. */
  readonly heldBaseUnits: bigint
  readonly isFrozen: boolean
  readonly lamports: bigint
}

export interface MintFacts {
  readonly tokenProgram: string
  readonly decimals: number
  /** Present if the mint withholds a fee from transfers: the fee of this epoch and the highest scheduled one. */
  readonly transferFee?: { readonly now: TransferFee; readonly most: TransferFee }
}

export type LandingStatus = 'not_found' | 'processed' | 'confirmed' | 'failed'

interface PayerChainOptions {
  readonly rpcUrl: string
  readonly fetch?: Fetch
}

/** The methods throw a retryable `Fault` if the node does not answer. Facts about a token that seldom change are cached. */
export function connectPayerChain({ rpcUrl, fetch = defaultFetch }: PayerChainOptions): PayerChain {
  const rpc = createSolanaRpc({ url: rpcUrl, fetch })
  const known = new Map<string, TokenFacts>()
  const decimalsOf = new Map<string, number>()
  let emptyRentLamports: bigint | undefined
  return {
    readToken: async (question) => {
      const key = `${question.mint} ${question.paymentTokenAccount}`
      const facts = known.get(key) ?? (await readToken(rpc, question))
      if (isLasting(facts) && known.size < knownMax) known.set(key, facts)
      return facts
    },
    async readDecimals(question) {
      const { mint } = question
      const decimals = decimalsOf.get(mint) ?? (await readToken(rpc, question)).mint?.decimals
      if (decimals !== undefined && decimalsOf.size < knownMax) decimalsOf.set(mint, decimals)
      return decimals
    },
    readHoldings: (question) => readHoldings(rpc, question),
    async rentLamports(bytes) {
      emptyRentLamports ??= await rpc.call('getMinimumBalanceForRentExemption', [0], lamportsJson)
      return divideRoundingDown(emptyRentLamports, accountOverheadBytes) * (accountOverheadBytes + BigInt(bytes))
    },
    latestBlockhash: () => latestBlockhash(rpc),
    send: (transaction, { preflight }) => send(rpc, transaction, preflight),
    findStatus: (signature, sinceSlot = 0) => findStatus(rpc, signature, sinceSlot),
    finalizedTip: () => finalizedTip(rpc),
  }
}

// Maximum of tokens in the cache. More would come from invented mints, because a payer uses a few services.
const knownMax = 100

// The network charges rent for 128 bytes in addition to the data.
const accountOverheadBytes = 128n

/**
 * True if the facts can be cached: the token account exists, and the mint has no transfer fee, which may change each
 * epoch.
 */
function isLasting({ mint, paymentTokenAccount }: TokenFacts): boolean {
  return mint !== undefined && mint.transferFee === undefined && paymentTokenAccount.state === 'present'
}

const lamportsJson = z.int().min(0).transform(BigInt)
const accountJson = z
  .object({ owner: z.string(), data: z.tuple([z.base64(), z.literal('base64')]), lamports: lamportsJson })
  .nullable()
const accountsJson = z.object({ value: z.tuple([accountJson, accountJson]) })

async function readToken(rpc: SolanaRpc, { mint, paymentTokenAccount }: TokenQuestion): Promise<TokenFacts> {
  const genesisHash = await rpc.call('getGenesisHash', [], z.string().min(32))
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const accounts = await rpc.call('getMultipleAccounts', [[mint, paymentTokenAccount], options], accountsJson)
  const [mintAccount, tokenAccount] = accounts.value
  return {
    network: `solana:${genesisHash.slice(0, 32)}`,
    mint: await readMint(rpc, mintAccount),
    paymentTokenAccount: readTokenAccount(tokenAccount),
  }
}

type AccountJson = z.infer<typeof accountJson>

async function readMint(rpc: SolanaRpc, account: AccountJson): Promise<MintFacts | undefined> {
  if (account === null || !tokenPrograms.has(account.owner)) return undefined
  const mint = readMintState(dataOf(account))
  if (mint === undefined) return undefined
  const { decimals, transferFee } = mint
  const facts: MintFacts = { tokenProgram: account.owner, decimals }
  return transferFee === undefined ? facts : { ...facts, transferFee: await feesOf(rpc, transferFee) }
}

/**
 * Returns the fee that applies now, and an upper bound of both fees. A new fee begins two epochs after it was set.
 * Until then the older fee applies.
 */
async function feesOf(
  rpc: SolanaRpc,
  { older, newer, newerEpoch }: ScheduledFee,
): Promise<{ now: TransferFee; most: TransferFee }> {
  const { epoch } = await rpc.call('getEpochInfo', [{ commitment: 'confirmed' }], z.object({ epoch: z.int() }))
  return {
    now: BigInt(epoch) >= newerEpoch ? newer : older,
    most: {
      basisPoints: Math.max(older.basisPoints, newer.basisPoints),
      maximumBaseUnits: larger(older.maximumBaseUnits, newer.maximumBaseUnits),
    },
  }
}

function readTokenAccount(account: AccountJson): TokenFacts['paymentTokenAccount'] {
  if (account === null || !tokenPrograms.has(account.owner)) return { state: 'absent' }
  const state = readTokenAccountState(dataOf(account))
  return state === undefined ? { state: 'absent' } : { state: 'present', owner: state.owner }
}

/** Decodes the data of an account. Data that is not canonical base64 becomes empty, which no mint or token account is. */
function dataOf({ data: [base64] }: NonNullable<AccountJson>): Uint8Array {
  return readBase64(base64) ?? new Uint8Array()
}

async function readHoldings(rpc: SolanaRpc, { wallet, tokenAccount }: HoldingsQuestion): Promise<Holdings> {
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const accounts = await rpc.call('getMultipleAccounts', [[tokenAccount, wallet], options], accountsJson)
  const [account, { lamports } = { lamports: 0n }] = accounts.value.map((account) => account ?? undefined)
  const state =
    account !== undefined && tokenPrograms.has(account.owner) ? readTokenAccountState(dataOf(account)) : undefined
  const isOwn = state?.owner === wallet
  return { heldBaseUnits: isOwn ? state.heldBaseUnits : 0n, isFrozen: isOwn && state.isFrozen, lamports }
}

const blockhashJson = z.object({ value: z.object({ blockhash: z.string(), lastValidBlockHeight: z.int() }) })

async function latestBlockhash(rpc: SolanaRpc) {
  // Use `confirmed`, because a `finalized` blockhash is already about 13 seconds old, and a payment is valid for about
  // a minute.
  const { value } = await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }], blockhashJson)
  return value
}

async function send(rpc: SolanaRpc, transaction: Uint8Array, preflight: boolean): Promise<void> {
  const options = { encoding: 'base64', skipPreflight: !preflight, preflightCommitment: 'confirmed', maxRetries: 0 }
  await rpc.call('sendTransaction', [encodeBase64(transaction), options], z.string())
}

const tipJson = z.object({ absoluteSlot: z.int(), blockHeight: z.int() })

async function finalizedTip(rpc: SolanaRpc) {
  const { absoluteSlot, blockHeight } = await rpc.call('getEpochInfo', [{ commitment: 'finalized' }], tipJson)
  return { slot: absoluteSlot, height: blockHeight }
}

const statusJson = z.object({
  context: z.object({ slot: z.int() }),
  value: z.tuple([z.object({ err: z.unknown(), confirmationStatus: z.string().nullish() }).nullable()]),
})

async function findStatus(rpc: SolanaRpc, signature: string, sinceSlot: number): Promise<LandingStatus> {
  const options = { searchTransactionHistory: true }
  const { context, value } = await rpc.call('getSignatureStatuses', [[signature], options], statusJson)
  const [status] = value
  // Check the slot, because several nodes often share one address and some of them lag.
  if (context.slot < sinceSlot)
    throw new PayerFault(
      'NODE_UNAVAILABLE',
      `the Solana node answered from slot ${context.slot}, before ${sinceSlot}`,
      { retryable: true },
    )
  if (status === null) return 'not_found'
  // Do not report a success or failure below `confirmed`, because a fork can still undo it.
  if (status.confirmationStatus !== 'confirmed' && status.confirmationStatus !== 'finalized') return 'processed'
  return status.err === null ? 'confirmed' : 'failed'
}
