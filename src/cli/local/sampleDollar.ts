import type { DollarSetting } from '../../payment/dollar.ts'

/** The dollar of local mode, which is at the address of devnet's USDC. Every price is sold in it. */
export const sampleDollar: DollarSetting = {
  symbol: 'USDC',
  mint: undefined,
  minimumMicroUsd: 1n,
  burn: 'token',
  rails: ['x402', 'mpp'],
}
