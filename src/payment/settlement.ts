import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Usage } from './events/attemptEvents.ts'
import type { TabDebited } from './events/tabEvents.ts'
import type { PaymentReference } from './paymentReference.ts'
import { type Price, transferBaseUnits } from '@tollbook/core/quote'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import type { TransferFee } from '@tollbook/core/transferFee'
import type { chainName } from '@tollbook/core/networks'
import { smaller } from '@tollbook/core/money'
import type { TokenBalance, TokenMovement, TransactionRecord } from './transactionRecord.ts'

/** Read from the chain at startup. Only the transfer fee may change afterwards. */
export interface PaymentTerms {
  readonly mint: Address
  readonly decimals: number
  readonly tokenProgram: Address
  readonly paymentWallet: Address
  /** Tokens sent to any other account of the wallet do not count. */
  readonly paymentTokenAccount: Address
  readonly network: string
  /** Called for each use, because the fee that the mint withholds from transfers may change. */
  readonly transferFee?: () => TransferFee | undefined
  /** Present if the payer may send the whole price and burn nothing. The service then owes the burn. */
  readonly burnMayBeOwed?: true
}

/** The form is the same for every rail. */
export interface Settlement {
  /** Makes the payment single-use. The reference is also the name of the payment's stream. */
  readonly reference: PaymentReference
  readonly wallet: Address
  readonly price: Price
  /** Absent for payments that the first release verified. */
  readonly priceList?: number
  /** Undefined if no quote was open, so that the price in force decided. */
  readonly quoteId: string | undefined
  /** Memo of the payment. Undefined if the payment is not bound to a quote's secret. */
  readonly memo: string | undefined
  /** If the payer burned less than the price requires, the payer sent the whole price and the service owes the burn. */
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
  /** For a debit: evidence of the deposit that opened the tab. */
  readonly evidence: SettlementEvidence
  readonly debit?: DebitFacts
  /** Units that were charged. Absent unless a tab was charged by use. */
  readonly usage?: Usage
}

export interface SettlementEvidence {
  readonly kind: typeof chainName
  readonly slot: number
  readonly blockTimeMs: number
  /**
   * Proves the payer's signature without a node, which keeps history only for days. Undefined for a debit, and if the
   * bytes could not be rebuilt.
   */
  readonly transactionBase64: string | undefined
}

export type DebitFacts = Pick<
  TabDebited,
  'tab' | 'number' | 'deposit' | 'signed' | 'bearerHash' | 'lifecycle' | 'orderDigest'
>

/** True if only the payer can use the payment, by the secret behind the memo or by the key of the tab. */
export function isBound({ memo, debit }: Pick<Settlement, 'memo' | 'debit'>): boolean {
  return memo !== undefined || debit !== undefined
}

/**
 * True if the price has no burn (for example of a deposit, or in dollars), or if the payer sent the whole price and
 * burned nothing. In the second case, the service owes the burn from the delivery on.
 */
export function isPaidWhole({ price, burnedBaseUnits }: Pick<Settlement, 'price' | 'burnedBaseUnits'>): boolean {
  assert(
    burnedBaseUnits === 0n || burnedBaseUnits >= price.burnBaseUnits,
    'a payment burns all that its price asks, or nothing',
  )
  return price.burnBaseUnits === 0n || burnedBaseUnits < price.burnBaseUnits
}

/** Returns the amount that is held for the caller until delivery. Any other received amount is an overpayment. */
export function heldForCallerBaseUnits(settlement: Settlement): bigint {
  const { price, receivedBaseUnits } = settlement
  const heldBaseUnits = isPaidWhole(settlement) ? price.requiredBaseUnits : transferBaseUnits(price)
  assert(receivedBaseUnits >= heldBaseUnits, 'a settled payment received its price')
  return heldBaseUnits
}

export interface ProvenAmounts {
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
}

export interface SettlementQuestion {
  readonly record: Omit<TransactionRecord, 'signature'>
  readonly wallet: Address
  readonly price: Price
  readonly terms: PaymentTerms
}

/**
 * Judges whether a transaction pays the price. The same record, price and terms always lead to the same answer. Rule
 * numbers are those of docs/verification.md.
 */
export function settle(question: SettlementQuestion): ProvenAmounts | Refusal {
  assert(question.price.mint === question.terms.mint, 'a price is in the mint that is taken')
  return judgeSigner(question) ?? judgeSuccess(question) ?? judgeBurn(question) ?? judgeTransfer(question)
}

/**
 * Rule 2a: the wallet signed. This rule comes first, because a failed transaction of another wallet proves nothing
 * about this one.
 */
export function judgeSigner({ record, wallet }: SettlementQuestion): Refusal | undefined {
  return record.signers.includes(wallet) ? undefined : refuseProof('wallet_did_not_sign')
}

/** Rule 1b: the transaction succeeded. */
export function judgeSuccess({ record }: Pick<SettlementQuestion, 'record'>): Refusal | undefined {
  if (record.failure === undefined) return undefined
  return record.failure.insufficientFunds
    ? refuse('INSUFFICIENT_BALANCE', `the transaction failed for lack of tokens: ${record.failure.text}`)
    : refuseProof('transaction_failed', record.failure.text)
}

function ownMovements(question: SettlementQuestion): readonly TokenMovement[] {
  return question.record.movements.filter((movement) => isOwn(movement, question))
}

/** Rule 2 for one movement: the wallet authorized it, and every visible owner of its source account is the wallet. */
function isOwn(movement: TokenMovement, { record, wallet, terms }: SettlementQuestion): boolean {
  if (movement.kind === 'mintTo' || movement.authority !== wallet) return false
  if (movement.mint !== terms.mint || movement.tokenProgram !== terms.tokenProgram) return false
  const owners = record.balances
    .filter((balance) => balance.tokenAccount === movement.source)
    .flatMap((balance) => balance.ownersSeen)
  return owners.length > 0 && owners.every((owner) => owner === wallet)
}

export function dueOf(price: Price, { burnMayBeOwed }: Pick<PaymentTerms, 'burnMayBeOwed'>) {
  assert(price.burnBaseUnits <= price.requiredBaseUnits, 'the burn is a part of the price')
  return burnMayBeOwed === true
    ? { burnBaseUnits: 0n, transferBaseUnits: price.requiredBaseUnits }
    : { burnBaseUnits: price.burnBaseUnits, transferBaseUnits: transferBaseUnits(price) }
}

/**
 * Rule 3: the wallet burned enough. The burn is real if the balances decrease by at least the burn, and nothing was
 * minted.
 */
export function judgeBurn(question: SettlementQuestion): Refusal | undefined {
  const { record, price, terms } = question
  const burnedBaseUnits = sumOf(ownMovements(question).filter((movement) => movement.kind === 'burn'))
  // A payment that burns only a part is not enough, because the service owes a whole burn or none.
  const requiredBaseUnits = burnedBaseUnits === 0n ? dueOf(price, terms).burnBaseUnits : price.burnBaseUnits
  if (burnedBaseUnits < requiredBaseUnits)
    return refuseProof('burn_insufficient', `burned ${burnedBaseUnits}, required ${requiredBaseUnits} base units`)
  const minted = record.movements.some((movement) => movement.kind === 'mintTo' && movement.mint === terms.mint)
  if (minted) return refuseProof('supply_increased')

  const changeBaseUnits = record.balances
    .filter((balance) => balance.mint === terms.mint)
    .reduce((sum, balance) => sum + netOf(balance), 0n)
  return -changeBaseUnits < burnedBaseUnits ? refuseProof('burn_not_conserved') : undefined
}

/**
 * Rule 4: the wallet sent enough to exactly the payment token account, and enough stayed there. The instructions alone
 * overstate the amount if a fee is withheld or the money is transferred back. The balance alone may include transfers
 * by others, which do not pay the price. The result has all tokens that arrived, because the additional ones are owed
 * to this wallet like any overpayment.
 */
export function judgeTransfer(question: SettlementQuestion): ProvenAmounts | Refusal {
  const { record, price, terms } = question
  const own = ownMovements(question)
  const sentBaseUnits = sumOf(
    own.filter((movement) => movement.kind === 'transfer' && movement.destination === terms.paymentTokenAccount),
  )
  const arrivedBaseUnits = record.balances
    .filter((balance) => balance.tokenAccount === terms.paymentTokenAccount && balance.mint === terms.mint)
    .filter((balance) => balance.ownersSeen.every((owner) => owner === terms.paymentWallet))
    .reduce((sum, balance) => sum + netOf(balance), 0n)
  const ownBaseUnits = smaller(sentBaseUnits, arrivedBaseUnits)
  const { transferBaseUnits: requiredBaseUnits } = dueOf(price, terms)
  if (ownBaseUnits < requiredBaseUnits) {
    return refuseProof('transfer_insufficient', `received ${ownBaseUnits}, required ${requiredBaseUnits} base units`)
  }
  const burnedBaseUnits = sumOf(own.filter((movement) => movement.kind === 'burn'))
  assert(ownBaseUnits <= arrivedBaseUnits, 'a wallet pays with no more than what arrived')
  assert(arrivedBaseUnits >= requiredBaseUnits, 'no less arrived than the price asks')
  return { burnedBaseUnits, receivedBaseUnits: arrivedBaseUnits }
}

/**
 * Settles a payment to one of several wallets, which are accepted while the payment wallet changes. Returns the amounts
 * of the first wallet that was paid, or else the refusal for the first wallet of the list.
 */
export function settleByAnyTerms(
  question: Omit<SettlementQuestion, 'terms'>,
  accepted: readonly PaymentTerms[],
): ProvenAmounts | Refusal {
  const [first, ...others] = accepted.map((terms) => settle({ ...question, terms }))
  const own = assertPresent(first, 'a payment wallet is accepted at any time')
  return [own, ...others].find((outcome) => !isRefusal(outcome)) ?? own
}

/**
 * True if the record has the effects of the settlement. A payment may land again in another slot after a fork, so only
 * its effects are compared.
 */
export function paysAsSettled(
  record: TransactionRecord,
  settlement: Settlement,
  allTerms: readonly PaymentTerms[],
): boolean {
  const { wallet, price, burnedBaseUnits, receivedBaseUnits } = settlement
  return allTerms
    .filter(({ mint }) => mint === price.mint)
    .map((terms) => (isPaidWhole(settlement) ? { ...terms, burnMayBeOwed: true as const } : terms))
    .map((terms) => settle({ record, wallet, price, terms }))
    .some(
      (found) =>
        !isRefusal(found) && found.burnedBaseUnits === burnedBaseUnits && found.receivedBaseUnits === receivedBaseUnits,
    )
}

function netOf(balance: TokenBalance): bigint {
  return balance.afterBaseUnits - balance.beforeBaseUnits
}

function sumOf(movements: readonly TokenMovement[]): bigint {
  assert(
    movements.every(({ amountBaseUnits }) => amountBaseUnits >= 0n),
    'an instruction moves no less than nothing',
  )
  return movements.reduce((sum, movement) => sum + movement.amountBaseUnits, 0n)
}
