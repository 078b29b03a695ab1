/** Problems of an offer, found before anything is signed for it. */
export type QuoteProblemKind =
  | 'malformed'
  | 'sums_wrong'
  | 'burn_too_small'
  | 'other_burn'
  | 'price_wrong'
  | 'memo_wrong'
  | 'other_endpoint'
  | 'expired'
  | 'other_network'
  | 'other_mint'
  | 'other_payment_wallet'
  | 'token_program_wrong'
  | 'decimals_wrong'
  | 'token_account_wrong'
  | 'token_account_missing'
  | 'transfer_fee_wrong'

/** Reason why a quote is not paid. */
export interface QuoteProblem {
  readonly problem: QuoteProblemKind
  readonly message: string
}

export function quoteProblem(problem: QuoteProblemKind, message: string): QuoteProblem {
  return { problem, message }
}

/** The service's offer is not one to pay. Nothing was signed. */
export class QuoteRefused extends Error {
  override readonly name = 'QuoteRefused'
  readonly problem: QuoteProblemKind
  /** The body of the 402, as it came. */
  readonly body: unknown

  constructor({ problem, message }: QuoteProblem, body: unknown) {
    super(`the offer is refused (${problem}): ${message}; nothing was signed`)
    this.problem = problem
    this.body = body
  }
}
