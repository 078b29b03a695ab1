import { z } from 'zod'
import { type GivenVariables, httpUrls, missingBeside, type MissingVariable, solanaAddress } from './variables.ts'

/** The chain on which callers pay. */
export interface ChainSettings {
  /** In the order in which they are asked. */
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
  readonly commitment: 'confirmed' | 'finalized'
}

export const chainVariables = {
  SOLANA_RPC_URLS: httpUrls,
  SOLANA_COMMITMENT: z.enum(['confirmed', 'finalized'], 'must be confirmed or finalized').default('confirmed'),
  TOKEN_MINT: solanaAddress,
  PAYMENT_WALLET: solanaAddress,
}

type ChainEnvironment = z.infer<z.ZodObject<typeof chainVariables>>

/** Undefined: local mode starts a chain. */
export function chainSettingsOf(env: ChainEnvironment): ChainSettings | undefined {
  const { SOLANA_RPC_URLS: rpcUrls, TOKEN_MINT: tokenMint, PAYMENT_WALLET: paymentWallet } = env
  if (rpcUrls === undefined || tokenMint === undefined || paymentWallet === undefined) return undefined
  return { rpcUrls, tokenMint, paymentWallet, commitment: env.SOLANA_COMMITMENT }
}

export function missingChainVariables(given: GivenVariables): readonly MissingVariable[] {
  return missingBeside(given, 'SOLANA_RPC_URLS', [
    ['TOKEN_MINT', 'the mint of the service token on the chain of SOLANA_RPC_URLS'],
    ['PAYMENT_WALLET', 'the wallet that receives payments on the chain of SOLANA_RPC_URLS'],
  ])
}
