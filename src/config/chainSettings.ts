import { z } from 'zod'
import { stablecoinMints } from './stablecoinMints.ts'
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
  BURN_THIS_MINT: solanaAddress,
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

/** Each payment burns a part of the token, so a stablecoin needs the operator's word. */
export function burnsMoney(given: GivenVariables): readonly string[] {
  const { TOKEN_MINT: mint, BURN_THIS_MINT: allowed } = given
  if (allowed !== undefined && allowed !== mint)
    return ['BURN_THIS_MINT is not TOKEN_MINT: remove it, or set it to the mint whose tokens are to be burned']
  const coin = stablecoinMints.get(mint ?? '')
  if (coin === undefined || allowed !== undefined) return []
  return [
    `TOKEN_MINT is ${coin}, and callers would burn a part of each payment in it. Set TOKEN_MINT to the mint of your own token; to burn this one on purpose, set BURN_THIS_MINT=${mint}`,
  ]
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
