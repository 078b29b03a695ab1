import {
  ACCOUNT_SIZE,
  AccountLayout,
  AccountState,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  MintLayout,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { encodeBase58 } from '@tollbook/core/base58'
import { sha256 } from '@tollbook/core/digest'
import { newId, randomToken } from '@tollbook/core/id'
import { displayNumber } from '@tollbook/core/money'
import { memoOfSecret } from '@tollbook/core/binding'
import type { QuoteBody } from '@tollbook/core/wire'
import { split } from '../../../src/pricing/split.ts'
import { defaultSplit } from '../../../src/pricing/splitSetting.ts'

/** The token and the chain that the scripted service and the scripted node agree on. */
export const mint = Keypair.fromSeed(sha256('mint')).publicKey
export const paymentWallet = Keypair.fromSeed(sha256('payment wallet')).publicKey
export const paymentTokenAccount = getAssociatedTokenAddressSync(mint, paymentWallet)
export const genesisHash = encodeBase58(sha256('genesis'))
export const network = `solana:${genesisHash.slice(0, 32)}`
export const decimals = 6

export interface QuoteTerms {
  readonly endpoint: string
  readonly priceUSD?: number
  readonly tokenPrice?: number
  readonly lifetimeMs?: number
  readonly nowMs: number
}

/** A 402 as an honest service makes it. */
export function makeQuote({
  endpoint,
  priceUSD = 0.02,
  tokenPrice = 0.001,
  lifetimeMs = 300_000,
  nowMs,
}: QuoteTerms): QuoteBody {
  const requiredBaseUnits = BigInt(Math.ceil((priceUSD / tokenPrice) * 10 ** decimals - 1e-6))
  const { burnBaseUnits } = split(requiredBaseUnits, defaultSplit)
  const secret = randomToken()
  return {
    error: 'payment required',
    code: 'PAYMENT_REQUIRED',
    pricing: { endpoint, priceUSD, tokenPrice, requiredTokens: displayNumber(requiredBaseUnits, decimals) },
    distribution: { burn: '30%', provider: '50%', holders: '15%', treasury: '5%' },
    burnInfo: { percentage: 30, tokensToBurn: displayNumber(burnBaseUnits, decimals) },
    paymentWallet: paymentWallet.toBase58(),
    tokenMint: mint.toBase58(),
    tokenProgram: TOKEN_PROGRAM_ID.toBase58(),
    paymentTokenAccount: paymentTokenAccount.toBase58(),
    network,
    quote: {
      id: newId('quote'),
      expiresAt: new Date(nowMs + lifetimeMs).toISOString(),
      requiredBaseUnits: requiredBaseUnits.toString(),
      burnBaseUnits: burnBaseUnits.toString(),
      transferBaseUnits: (requiredBaseUnits - burnBaseUnits).toString(),
      decimals,
      memo: memoOfSecret(secret),
      secret,
    },
  }
}

export function mintData(): Buffer {
  const data = Buffer.alloc(MINT_SIZE)
  MintLayout.encode(
    {
      mintAuthorityOption: 0,
      mintAuthority: PublicKey.default,
      supply: 1_000_000n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: 0,
      freezeAuthority: PublicKey.default,
    },
    data,
  )
  return data
}

export interface HeldTokens {
  readonly baseUnits?: bigint
  readonly isFrozen?: boolean
}

export function tokenAccountData(owner: PublicKey, { baseUnits = 0n, isFrozen = false }: HeldTokens = {}): Buffer {
  const data = Buffer.alloc(ACCOUNT_SIZE)
  AccountLayout.encode(
    {
      mint,
      owner,
      amount: baseUnits,
      delegateOption: 0,
      delegate: PublicKey.default,
      state: isFrozen ? AccountState.Frozen : AccountState.Initialized,
      isNativeOption: 0,
      isNative: 0n,
      delegatedAmount: 0n,
      closeAuthorityOption: 0,
      closeAuthority: PublicKey.default,
    },
    data,
  )
  return data
}
