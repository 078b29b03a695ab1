import { docsOf } from './errorCode.ts'

/** Problems of an offer. They are found before anything is signed. */
export type QuoteProblemKind =
  /** A field is missing, has a wrong type or has an impossible value. */
  | 'malformed'
  /** Burn, transfer and distribution do not add up to the required amount. */
  | 'sums_wrong'
  /** The burn is smaller than the percentage that the offer announces. */
  | 'burn_too_small'
  /** The burn is not the expected percentage, or is not announced in the offer. */
  | 'other_burn'
  /**
   * The offer requires more tokens than its price in US dollars is worth, states no token price, or costs more than the
   * deposit.
   */
  | 'price_wrong'
  | 'memo_wrong'
  | 'other_endpoint'
  | 'expired'
  /** The network of the offer is not the expected network, or not the network of the node. */
  | 'other_network'
  /** The mint of the offer is not the expected mint, or is not a mint on this chain. */
  | 'other_mint'
  | 'other_payment_wallet'
  /** The offer states no valid token program, or not the program of the mint. */
  | 'token_program_wrong'
  | 'decimals_wrong'
  /** The token account is not the associated token account of the payment wallet, or belongs to another wallet. */
  | 'token_account_wrong'
  /**
   * The token account does not exist, and the payer does not pay its rent. It pays for one account at most, and for
   * none in another protocol.
   */
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

/** The offer was refused. Nothing was signed. */
export class QuoteRefused extends Error {
  override readonly name = 'QuoteRefused'
  readonly code = 'QUOTE_REFUSED'
  readonly docs = docsOf('QUOTE_REFUSED')
  readonly problem: QuoteProblemKind
  /** Body of the 402 response, unchanged. */
  readonly body: unknown

  constructor({ problem, message }: QuoteProblem, body: unknown) {
    super(`the offer is refused (${problem}): ${message}; nothing was signed`)
    this.problem = problem
    this.body = body
  }
}
