import { z } from 'zod'

/** Stock x402 knows three Solana networks by name; the local chain has to be one of them. */
export const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as const

export const peerSettings = z.object({
  rpcUrl: z.string(),
  mint: z.string(),
  payTo: z.string(),
  amountBaseUnits: z.string(),
  feePayerSecret: z.string(),
})

export type PeerSettings = z.output<typeof peerSettings>
