import { assert, assertPresent } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { PaymentReference } from './paymentReference.ts'
import { type Price, transferBaseUnits } from '@tollbook/core/quote'
import { isRefusal, type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import type { TransferFee } from '@tollbook/core/transferFee'
import type { TokenBalance, TokenMovement, TransactionRecord } from './transactionRecord.ts'

/** Receiver of payments and accepted token. Read from the chain at start; only the transfer fee may change after it. */
export interface PaymentTerms {
  readonly mint: Address
  readonly decimals: number
  /** SPL Token or Token-2022, whichever owns the mint. */
  readonly tokenProgram: Address
  readonly paymentWallet: Address
  /** The associated token account of the payment wallet; nothing sent elsewhere counts. */
  readonly paymentTokenAccount: Address
  /** CAIP-2, `solana:` + the first 32 characters of the genesis hash. */
  readonly network: string
  /** The fee that the mint withholds from each transfer, as last read. Asked at each use. */
  readonly transferFee?: () => TransferFee | undefined
  /** Present when the payer may send the whole price and burn nothing. The burn is then ours to make. */
  readonly burnMayBeOwed?: true
}

/** A verified payment that satisfies a price. The same on every rail: the claim and the receipt see nothing else. */
export interface Settlement {
  /** Makes the payment single-use; also the name of its stream. */
  readonly reference: PaymentReference
  readonly wallet: Address
  readonly price: Price
  /** Number of the price list that the price comes from. Payments verified by the first release have none. */
  readonly priceList?: number
  /** Undefined when no quote was open and the price in force decided. */
  readonly quoteId: string | undefined
  /** Undefined when the payment is not bound to a quote's secret. */
  readonly memo: string | undefined
  /** Burned by the payer inside the payment. Less than the price asks: the payer sent the whole price, and we owe the burn. */
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
  readonly evidence: SettlementEvidence
}

/** Proof that the payment happened, by the rail's own means. */
export interface SettlementEvidence {
  readonly kind: 'solana'
  readonly slot: number
  readonly blockTimeMs: number
  /**
   * The signed transaction itself. With it the payer's signature and the
   * instructions can be checked permanently without a node, which keeps history for
   * days only. Undefined if the node's answer could not be turned back into bytes.
   */
  readonly transactionBase64: string | undefined
}

/** Whether a secret belongs to the payment, which only its payer knows. Everything else about a payment is public on chain. */
export function isBound({ memo }: Pick<Settlement, 'memo'>): boolean {
  return memo !== undefined
}

/** The payer sent the whole price and burned nothing. The burn is ours to make, and owed with the delivery. */
export function isPaidWhole({ price, burnedBaseUnits }: Pick<Settlement, 'price' | 'burnedBaseUnits'>): boolean {
  assert(
    burnedBaseUnits === 0n || burnedBaseUnits >= price.burnBaseUnits,
    'a payment burns all that its price asks, or nothing',
  )
  return burnedBaseUnits < price.burnBaseUnits
}

/** Received for this price and held for the caller until delivery. The rest of what arrived was paid by mistake. */
export function heldForCallerBaseUnits(settlement: Settlement): bigint {
  const { price, receivedBaseUnits } = settlement
  const heldBaseUnits = isPaidWhole(settlement) ? price.requiredBaseUnits : transferBaseUnits(price)
  assert(receivedBaseUnits >= heldBaseUnits, 'a settled payment received its price')
  return heldBaseUnits
}

/** Amounts of a transaction that satisfy the price. */
export interface ProvenAmounts {
  readonly burnedBaseUnits: bigint
  readonly receivedBaseUnits: bigint
}

/** A landed transaction, the price that it should pay, and the wallet that claims it. */
export interface SettlementQuestion {
  readonly record: Omit<TransactionRecord, 'signature'>
  readonly wallet: Address
  readonly price: Price
  readonly terms: PaymentTerms
}

/**
 * Does this transaction pay this price for this wallet? Pure: the same record and price always get the same answer.
 * The numbers are the rules of docs/verification.md.
 */
export function settle(question: SettlementQuestion): ProvenAmounts | Refusal {
  assert(question.price.mint === question.terms.mint, 'a price is in the mint that is taken')
  return judgeSigner(question) ?? judgeSuccess(question) ?? judgeBurn(question) ?? judgeTransfer(question)
}

/**
 * Rule 2a: the wallet signed. The payer of the SOL fee does not matter. It comes first, because the failure of another
 * wallet's transaction is not evidence of this wallet's balance.
 */
export function judgeSigner({ record, wallet }: SettlementQuestion): Refusal | undefined {
  return record.signers.includes(wallet) ? undefined : refuseProof('wallet_did_not_sign')
}

/** Rule 1b: it succeeded. */
export function judgeSuccess({ record }: Pick<SettlementQuestion, 'record'>): Refusal | undefined {
  if (record.failure === undefined) return undefined
  return record.failure.insufficientFunds
    ? refuse('INSUFFICIENT_BALANCE', `the transaction failed for lack of tokens: ${record.failure.text}`)
    : refuseProof('transaction_failed', record.failure.text)
}

function ownMovements(question: SettlementQuestion): readonly TokenMovement[] {
  return question.record.movements.filter((movement) => isOwn(movement, question))
}

/** Rule 2, per movement: the wallet is its authority and the owner of its source, so far as anything shows an owner. */
function isOwn(movement: TokenMovement, { record, wallet, terms }: SettlementQuestion): boolean {
  if (movement.kind === 'mintTo' || movement.authority !== wallet) return false
  if (movement.mint !== terms.mint || movement.tokenProgram !== terms.tokenProgram) return false
  const owners = record.balances
    .filter((balance) => balance.tokenAccount === movement.source)
    .flatMap((balance) => balance.ownersSeen)
  return owners.length > 0 && owners.every((owner) => owner === wallet)
}

/** Amounts that a price asks of the payer, by the terms. */
export interface Due {
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
}

/**
 * The burn and the transfer that a payment must contain. If the burn may be owed, the service receives the whole price.
 */
export function dueOf(price: Price, { burnMayBeOwed }: Pick<PaymentTerms, 'burnMayBeOwed'>): Due {
  assert(price.burnBaseUnits <= price.requiredBaseUnits, 'the burn is a part of the price')
  return burnMayBeOwed === true
    ? { burnBaseUnits: 0n, transferBaseUnits: price.requiredBaseUnits }
    : { burnBaseUnits: price.burnBaseUnits, transferBaseUnits: transferBaseUnits(price) }
}

/** Rule 3: the wallet burned enough, and the burn is real: the balances fall by it and nothing was minted. */
export function judgeBurn(question: SettlementQuestion): Refusal | undefined {
  const { record, price, terms } = question
  const burnedBaseUnits = sumOf(ownMovements(question).filter((movement) => movement.kind === 'burn'))
  // A part of the burn is neither done nor owed.
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
 * Rule 4: enough was sent by the wallet to exactly our token account, and enough stayed there. The instructions alone
 * overstate if a transfer fee is withheld or the money is pulled back; the balance alone may be another wallet's
 * payment.
 * All that arrived is recorded: transfers of others pay for nothing, and are owed to the wallet like any overpayment.
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
  const ownBaseUnits = sentBaseUnits < arrivedBaseUnits ? sentBaseUnits : arrivedBaseUnits
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
 * The same question for each wallet that is accepted while the payment wallet changes. The first wallet that was paid decides;
 * if none was, the refusal is that of the first.
 */
export function settleByAnyTerms(
  question: Omit<SettlementQuestion, 'terms'>,
  accepted: readonly PaymentTerms[],
): ProvenAmounts | Refusal {
  const [first, ...others] = accepted.map((terms) => settle({ ...question, terms }))
  const own = assertPresent(first, 'a payment wallet is accepted at any time')
  return [own, ...others].find((outcome) => !isRefusal(outcome)) ?? own
}

/** Whether the transaction, wherever it landed, pays one of these wallets exactly what the settlement says. */
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
