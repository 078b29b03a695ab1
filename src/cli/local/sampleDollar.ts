import type { DollarSetting } from '../../payment/dollar.ts'

/** The dollar of local mode, at the address of USDC on devnet. Every product can be paid in it. */
export const sampleDollar: DollarSetting = {
  symbol: 'USDC',
  mint: undefined,
  minimumMicroUsd: 1n,
  burn: 'token',
  rails: ['x402', 'mpp'],
}
