import { docsOf } from './errorCode.ts'

/** Problems of an offer, found before anything is signed for it. */
export type QuoteProblemKind =
  /** A field is missing or has a wrong type. */
  | 'malformed'
  /** Burn, transfer and distribution do not add up to the required amount. */
  | 'sums_wrong'
  /** Less would be burned than the announced percentage. */
  | 'burn_too_small'
  /** It burns another percentage than the expected one. */
  | 'other_burn'
  /** It asks for more tokens than its price in US dollars is worth, or states no token price. */
  | 'price_wrong'
  | 'memo_wrong'
  | 'other_endpoint'
  | 'expired'
  /** It names another network than the expected one, or than the node's. */
  | 'other_network'
  /** It names another mint than the expected one, or a mint that this chain does not have. */
  | 'other_mint'
  | 'other_payment_wallet'
  /** It names no token program, or another one than the mint's. */
  | 'token_program_wrong'
  /** It states other decimals than the mint has. */
  | 'decimals_wrong'
  /** It is not the associated token account of the payment wallet, or belongs to another wallet. */
  | 'token_account_wrong'
  /** The token account does not exist, and the payer does not pay its rent. */
  | 'token_account_missing'
  /** The amount to send does not fit the fee that the mint withholds. */
  | 'transfer_fee_wrong'

export interface QuoteProblem {
  readonly problem: QuoteProblemKind
  readonly message: string
}

export function quoteProblem(problem: QuoteProblemKind, message: string): QuoteProblem {
  return { problem, message }
}

/** Nothing was signed. */
export class QuoteRefused extends Error {
  override readonly name = 'QuoteRefused'
  readonly code = 'QUOTE_REFUSED'
  readonly docs = docsOf('QUOTE_REFUSED')
  readonly problem: QuoteProblemKind
  /** Body of the 402 as it came. */
  readonly body: unknown

  constructor({ problem, message }: QuoteProblem, body: unknown) {
    super(`the offer is refused (${problem}): ${message}; nothing was signed`)
    this.problem = problem
    this.body = body
  }
}
