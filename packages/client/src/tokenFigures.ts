import { z } from 'zod'
import { createSolanaRpc, type Fetch } from './solanaRpc.ts'

/** Figures of a token, in base units, at commitment `confirmed`. */
export interface TokenFigures {
  /** Supply of the token; each burn lowers it. */
  readonly supplyBaseUnits: bigint
  /** Balance of the token account. */
  readonly heldBaseUnits: bigint
}

export interface FiguresQuestion {
  readonly rpcUrl: string
  readonly mint: string
  readonly tokenAccount: string
  readonly fetch?: Fetch
}

const amountJson = z.object({
  value: z.object({
    amount: z
      .string()
      .regex(/^\d{1,20}$/)
      .transform(BigInt),
  }),
})

/** Reads the figures from the chain, to compare them with the ledger. */
export async function readTokenFigures({
  rpcUrl,
  mint,
  tokenAccount,
  fetch = globalThis.fetch,
}: FiguresQuestion): Promise<TokenFigures> {
  const rpc = createSolanaRpc({ url: rpcUrl, fetch })
  const options = { commitment: 'confirmed' }
  const [supply, held] = await Promise.all([
    rpc.call('getTokenSupply', [mint, options], amountJson),
    rpc.call('getTokenAccountBalance', [tokenAccount, options], amountJson),
  ])
  return { supplyBaseUnits: supply.value.amount, heldBaseUnits: held.value.amount }
}
