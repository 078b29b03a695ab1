import { z } from 'zod'
import {
  type GivenVariables,
  httpUrls,
  missingBeside,
  type MissingVariable,
  solanaAddress,
  wholeNumber,
} from './variables.ts'

/** The chain on which callers pay. */
export interface ChainSettings {
  /** In the order in which they are asked. */
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly commitment: 'confirmed' | 'finalized'
  /** Undefined: the standard ones. */
  readonly limits?: NodeLimits
}

/** When a node no longer answers about money. */
interface NodeLimits {
  readonly stillMs: number
  readonly lagSlotsMax: number
  readonly clockSkewMaxMs: number
}

export const chainVariables = {
  SOLANA_RPC_URLS: httpUrls,
  SOLANA_COMMITMENT: z.enum(['confirmed', 'finalized'], 'must be confirmed or finalized').default('confirmed'),
  SOLANA_NODE_STILL_SECONDS: wholeNumber(1, 3_600, 20),
  SOLANA_NODE_LAG_SLOTS: wholeNumber(1, 100_000, 50),
  SOLANA_CLOCK_SKEW_SECONDS: wholeNumber(1, 3_600, 60),
  TOKEN_MINT: solanaAddress,
  PAYMENT_WALLET: solanaAddress,
}

type ChainEnvironment = z.infer<z.ZodObject<typeof chainVariables>>

/** Undefined: local mode starts a chain. */
export function chainSettingsOf(env: ChainEnvironment): ChainSettings | undefined {
  const { SOLANA_RPC_URLS: rpcUrls, TOKEN_MINT: tokenMint, PAYMENT_WALLET: paymentWallet } = env
  if (rpcUrls === undefined || tokenMint === undefined || paymentWallet === undefined) return undefined
  const limits = {
    stillMs: env.SOLANA_NODE_STILL_SECONDS * 1000,
    lagSlotsMax: env.SOLANA_NODE_LAG_SLOTS,
    clockSkewMaxMs: env.SOLANA_CLOCK_SKEW_SECONDS * 1000,
  }
  return { rpcUrls, tokenMint, paymentWallet, commitment: env.SOLANA_COMMITMENT, limits }
}

/** A second node cannot agree where there is none. */
export function needsSecondNode(given: GivenVariables): boolean {
  if (given['SOLANA_QUORUM_ABOVE_USD'] === undefined) return false
  return (given['SOLANA_RPC_URLS'] ?? '').split(',').length < 2
}

export function missingChainVariables(given: GivenVariables): readonly MissingVariable[] {
  return missingBeside(given, 'SOLANA_RPC_URLS', [
    ['TOKEN_MINT', 'the mint of the service token on the chain of SOLANA_RPC_URLS'],
    ['PAYMENT_WALLET', 'the wallet that receives payments on the chain of SOLANA_RPC_URLS'],
  ])
}
