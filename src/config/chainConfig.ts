import { z } from 'zod'
import { complete, httpUrls, solanaAddress, variable } from './variables.ts'

export const tokenMint = variable('TOKEN_MINT', solanaAddress)
export const paymentWallet = variable('PAYMENT_WALLET', solanaAddress)
const commitment = variable(
  'SOLANA_COMMITMENT',
  z.enum(['confirmed', 'finalized'], 'must be confirmed or finalized').default('confirmed'),
)

/** Undefined: local mode starts a chain. */
export const chainConfig = z
  .object({
    /** In the order of their use. */
    rpcUrls: variable('SOLANA_RPC_URLS', httpUrls),
    tokenMint,
    paymentWallet,
    commitment,
  })
  .transform(complete)

export const localConfig = z.object({
  home: variable('TOLLBOOK_HOME', z.string().min(1, 'must be a folder').default('.tollbook')),
  commitment,
})
