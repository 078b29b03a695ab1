import { z } from 'zod'

/** Stock x402 knows three Solana networks by name; the local chain has to be one of them. */
export const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as const

export const peerSettings = z.object({
  rpcUrl: z.string(),
  mint: z.string(),
  payTo: z.string(),
  amountBaseUnits: z.string(),
  feePayerSecret: z.string(),
  /** Base URL of the API behind the peer. Absent: it answers by itself. */
  upstreamUrl: z.string().optional(),
})

export type PeerSettings = z.output<typeof peerSettings>
