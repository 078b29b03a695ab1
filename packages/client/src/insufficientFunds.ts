import { divideRoundingUp, formatDecimal } from '@tollbook/core/money'
import { docsOf } from './errorCode.ts'
import type { Holdings } from './payerChain.ts'

export interface FundsNeeded {
  readonly mint: string
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  /** Undefined: the service pays network fee and rent. */
  readonly sol: SolNeeded | undefined
  /** Name of the token, for messages only. */
  readonly tokenSymbol?: string | undefined
  readonly tokenSourceUrl?: string | undefined
}

export interface SolNeeded {
  readonly requiredLamports: bigint
  /**
   * Rent of a wallet account in lamports. The network rejects a payment that leaves its fee payer less than this,
   * unless it leaves zero.
   */
  readonly rentLamports: bigint
}

/** The wallet has too few tokens or too little SOL. Nothing was signed. */
export class InsufficientFunds extends Error {
  override readonly name = 'InsufficientFunds'
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly docs = docsOf('INSUFFICIENT_FUNDS')
  readonly missing: readonly ('tokens' | 'SOL')[]
  readonly mint: string
  readonly heldBaseUnits: bigint
  readonly requiredBaseUnits: bigint
  readonly lamports: bigint
  readonly requiredLamports: bigint

  constructor(needed: FundsNeeded, held: Holdings, missing: InsufficientFunds['missing']) {
    const { sol } = needed
    const texts = { tokens: tokensText(needed, held), SOL: sol === undefined ? '' : solText(sol, held) }
    super(`${missing.map((what) => texts[what]).join('; ')}; nothing was signed`)
    this.missing = missing
    this.mint = needed.mint
    this.heldBaseUnits = held.heldBaseUnits
    this.requiredBaseUnits = needed.requiredBaseUnits
    this.lamports = held.lamports
    this.requiredLamports = sol?.requiredLamports ?? 0n
  }
}

export function findShortage(needed: FundsNeeded, held: Holdings): InsufficientFunds | undefined {
  const { requiredBaseUnits, sol } = needed
  const canMove = held.heldBaseUnits >= requiredBaseUnits && !held.isFrozen
  const canPayFee = sol === undefined || leavesEnough(sol, held)
  const missing = [...(canMove ? [] : (['tokens'] as const)), ...(canPayFee ? [] : (['SOL'] as const))]
  return missing.length === 0 ? undefined : new InsufficientFunds(needed, held, missing)
}

function leavesEnough({ requiredLamports, rentLamports }: SolNeeded, { lamports }: Holdings): boolean {
  const leftLamports = lamports - requiredLamports
  return leftLamports === 0n || leftLamports >= rentLamports
}

function tokensText({ mint, decimals, requiredBaseUnits, tokenSymbol, tokenSourceUrl }: FundsNeeded, held: Holdings) {
  const [has, needs] = [held.heldBaseUnits, requiredBaseUnits].map((baseUnits) => formatDecimal(baseUnits, decimals))
  const frozen = held.isFrozen ? ', in a token account that is frozen' : ''
  const source = tokenSourceUrl === undefined ? '' : `; the service names a source: ${tokenSourceUrl}`
  return `you have ${has} of ${needs} ${tokenSymbol ?? 'tokens'} (mint ${mint})${frozen}${source}`
}

const solDecimals = 9
// Step to which small amounts are rounded up, in lamports: 5,000 lamports are shown as 0.00001 SOL.
const shownLamports = 10_000n
const shownRentLamports = 100_000n

function solText({ requiredLamports, rentLamports }: SolNeeded, { lamports }: Holdings): string {
  const stepLamports = requiredLamports < shownRentLamports ? shownLamports : shownRentLamports
  const aboutLamports = divideRoundingUp(requiredLamports, stepLamports) * stepLamports
  const amounts = [lamports, aboutLamports, rentLamports]
  const [has, needs, keeps] = amounts.map((amount) => formatDecimal(amount, solDecimals))
  const rest = lamports > requiredLamports ? `; the network keeps at least ${keeps} SOL in a wallet` : ''
  return `you have ${has} SOL and need about ${needs} SOL for the network fee${rest}`
}
