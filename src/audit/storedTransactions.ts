import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { AuditedSettlement, PaymentEvent } from './auditedEvent.ts'
import { base58Of } from './base58Text.ts'
import type { Findings } from './findings.ts'
import { isMemoProgram, isOpenBook, isTokenProgram, type TokenMove, tokenMovesOf } from './tokenMoves.ts'
import { type ReadTransaction, readTransactionBytes } from './transactionBytes.ts'

export interface StoredFigures {
  /** Stored transactions whose signatures hold over their bytes. */
  signed: number
  /** Of these, transactions whose own instructions show the amounts that were booked. */
  amountsShown: number
  /** Payments whose bytes were not kept. */
  withoutBytes: number
}

/**
 * The signed transactions in the events, checked without a node: the payer's signature cannot be made by us, so what it is
 * over is what the payer agreed to. That it landed is for a node to say.
 */
export class StoredTransactions {
  readonly figures: StoredFigures = { signed: 0, amountsShown: 0, withoutBytes: 0 }
  readonly #findings: Findings
  readonly #keys = new Map<string, KeyObject>()
  #underWay: Promise<void>[] = []

  constructor(findings: Findings, figures?: StoredFigures) {
    this.#findings = findings
    if (figures !== undefined) Object.assign(this.figures, figures)
  }

  /** Begins the check; the signatures are verified on other threads. */
  check(event: PaymentEvent, position: number): void {
    if (event.kind !== 'PaymentVerified' && event.kind !== 'PaymentSubmitted') return
    const settlement = event.kind === 'PaymentVerified' ? event.settlement : undefined
    const base64 = event.kind === 'PaymentVerified' ? event.settlement.transactionBase64 : event.transactionBase64
    if (base64 === undefined) {
      this.figures.withoutBytes++
      return
    }
    const blame = (message: string): void => {
      this.#findings.add('transaction_bytes_wrong', { position, subject: event.stream, message })
    }
    const transaction = readTransactionBytes(Buffer.from(base64, 'base64'))
    if (transaction === undefined) return blame('the stored bytes are no transaction')
    const wrong = findWrong(transaction, event.stream, settlement)
    if (wrong !== undefined) return blame(wrong)
    if (settlement !== undefined && showsAmounts(transaction)) this.figures.amountsShown++
    this.#underWay.push(
      this.#verify(transaction).then((holds) => {
        if (holds) this.figures.signed++
        else blame('a signature does not hold over the stored bytes')
      }),
    )
  }

  /** Waits until everything that was begun is known. */
  async drain(): Promise<void> {
    const underWay = this.#underWay
    this.#underWay = []
    await Promise.all(underWay)
  }

  async #verify({ signatures, keys, message }: ReadTransaction): Promise<boolean> {
    const verdicts = await Promise.all(
      signatures.map((signature, index) =>
        verifyAsync(message, this.#keyOf(keys[index] ?? Buffer.alloc(0)), signature),
      ),
    )
    return verdicts.every((holds) => holds)
  }

  #keyOf(bytes: Buffer): KeyObject {
    const name = bytes.toString('latin1')
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const key = createPublicKey({ key: Buffer.concat([derHead, bytes]), format: 'der', type: 'spki' })
    if (this.#keys.size >= keysMax) this.#keys.clear()
    this.#keys.set(name, key)
    return key
  }
}

// Many payments of few wallets: making a key object takes a quarter as long as verifying with it.
const keysMax = 2_000
const derHead = Buffer.from('302a300506032b6570032100', 'hex')

function verifyAsync(data: Buffer, key: KeyObject, signature: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, data, key, signature, (error, holds) => (error === null ? resolve(holds) : reject(error)))
  })
}

function findWrong(
  transaction: ReadTransaction,
  stream: string,
  settlement: AuditedSettlement | undefined,
): string | undefined {
  const { signatures, keys } = transaction
  if (base58Of(signatures[0] ?? Buffer.alloc(0)) !== stream) return 'the stored bytes are another transaction'
  if (settlement === undefined) return undefined
  const signers = keys.slice(0, signatures.length).map(base58Of)
  if (!signers.includes(settlement.wallet)) return `${settlement.wallet} did not sign the stored bytes`
  return findWrongMemo(transaction, settlement) ?? findWrongAmount(transaction, settlement)
}

const memoPrefix = 'tollbook:'

function findWrongMemo(transaction: ReadTransaction, { memo }: AuditedSettlement): string | undefined {
  if (!showsAmounts(transaction)) return undefined
  const memos = callsOf(transaction)
    .filter(({ program }) => isMemoProgram(program))
    .map(({ data }) => data.toString('utf8'))
    .filter((text) => text.startsWith(memoPrefix))
  if (memo === undefined) return memos.length === 0 ? undefined : 'the stored bytes are bound to a quote'
  return memos.length === 1 && memos[0] === memo ? undefined : 'the stored bytes have another memo'
}

/** Only where every instruction is an open book can the sums be told from the bytes. */
function findWrongAmount(transaction: ReadTransaction, settlement: AuditedSettlement): string | undefined {
  if (!showsAmounts(transaction)) return undefined
  const own = callsOf(transaction)
    .filter(({ program }) => isTokenProgram(program))
    .flatMap(({ accounts, data }) => tokenMovesOf(accounts, data))
    .filter(({ authority }) => authority === settlement.wallet)
  const { mint } = settlement.price
  const burned = sumOf(own.filter((move) => move.kind === 'burn' && move.mint === mint))
  const sent = sumOf(own.filter((move) => move.kind === 'transfer' && (move.mint ?? mint) === mint))
  // What the wallet moved as somebody's delegate is not counted as its payment, so the bytes may show more.
  if (burned < settlement.burnedBaseUnits) {
    return `the stored bytes burn ${burned}, and ${settlement.burnedBaseUnits} are booked`
  }
  if (sent < settlement.receivedBaseUnits) {
    return `the stored bytes send ${sent}, and ${settlement.receivedBaseUnits} are booked as received`
  }
  return undefined
}

function showsAmounts(transaction: ReadTransaction): boolean {
  const { keys, instructions, usesLookupTables } = transaction
  return (
    !usesLookupTables && instructions.every(({ program }) => isOpenBook(base58Of(keys[program] ?? Buffer.alloc(0))))
  )
}

function callsOf({ keys, instructions }: ReadTransaction) {
  const names = keys.map(base58Of)
  return instructions.map(({ program, accounts, data }) => {
    return { program: names[program] ?? '', accounts: accounts.map((index) => names[index] ?? ''), data }
  })
}

export function sumOf(moves: readonly TokenMove[]): bigint {
  return moves.reduce((sum, { amount }) => sum + amount, 0n)
}
