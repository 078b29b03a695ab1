import { z } from 'zod'
import { usd, variable, wholeNumber } from './variables.ts'

/** Time of a request handler. Chat servers share most of it. */
export const handlerTimeoutMs = variable('HANDLER_TIMEOUT_MS', wholeNumber(100, 300_000, 30_000))

/** The operator's limits on a sale. Those that no operator changes are in start/saleLimits.ts. */
export const saleConfig = z.object({
  handlerTimeoutMs,
  /** Above this price two nodes have to return the same record of a payment. Undefined: one node is enough. */
  quorumAboveMicroUsd: variable('SOLANA_QUORUM_ABOVE_USD', usd.optional()),
  /** Whole tokens that may be served for payments that are not final. 0: no limit. */
  exposureMaxTokens: variable('EXPOSURE_MAX_TOKENS', wholeNumber(0, 9_999_999_999, 0)),
})

export type SaleConfig = z.infer<typeof saleConfig>
