import { base58 } from '@scure/base'
import { type KeyObject, verify } from 'node:crypto'
import { type AuditState, StateDocument } from './auditState.ts'
import { ed25519Key } from './checkpointNote.ts'
import type { Findings } from './findings.ts'
import type { ReadEvent } from './kinds/auditedKind.ts'
import type { SignedBytes } from './onChain.ts'
import { type AuditedSettlement, dueOf } from './settlement.ts'
import { signatureOf } from './streamName.ts'
import { addressOf, memosOf, movesIn, type ProgramCall, showsItsMoves, sumOf, type TokenMove } from './tokenMoves.ts'
import { type ReadTransaction, readTransactionBytes } from './transactionBytes.ts'

export interface StoredFigures {
  signed: number
  /** Number of payments whose stored instructions show the recorded amounts. */
  amountsShown: number
  withoutBytes: number
}

const figures = new StateDocument('storedTransactions', (): StoredFigures => {
  return { signed: 0, amountsShown: 0, withoutBytes: 0 }
})

/**
 * Checks the signed transactions in the events without a node. The payer's signature proves the payer's consent,
 * because the service cannot forge it. Only a node can confirm that the transaction landed.
 */
export class StoredTransactions {
  readonly figures: StoredFigures
  readonly #findings: Findings
  readonly #keys = new Map<string, KeyObject>()
  readonly #sent = new Map<string, { readonly base64: string; readonly holds: Promise<boolean> }>()
  readonly #underWay: Promise<void>[] = []

  constructor(findings: Findings, state: AuditState) {
    this.#findings = findings
    this.figures = figures.of(state)
  }

  /** Starts the check of an event. The signatures are verified on other threads. */
  check({ event, signed }: ReadEvent, position: number): void {
    const stored = signed()
    if (stored === undefined) return
    const { transactionBase64: base64 } = stored
    if (base64 === null) {
      this.figures.withoutBytes++
      return
    }
    const blame = (message: string): void => {
      this.#findings.add('transaction_bytes_wrong', { position, subject: event.stream, message })
    }
    const transaction = readTransactionBytes(Buffer.from(base64, 'base64'))
    if (transaction === undefined) return blame('the stored bytes are not a transaction')
    const calls = openCallsOf(transaction)
    const wrong = findWrong(transaction, calls, { stream: event.stream, stored })
    if (wrong !== undefined) return blame(wrong)
    if (stored.payment !== undefined && calls !== undefined) this.figures.amountsShown++
    this.#underWay.push(
      this.#holds({ stream: event.stream, isSent: stored.isSent === true, base64 }, transaction).then((holds) => {
        if (holds) this.figures.signed++
        else blame('a signature does not hold over the stored bytes')
      }),
    )
  }

  /** Waits until at most `underWayMax` checks are running. They continue while the next events are read. */
  async keepUp(): Promise<void> {
    while (this.#underWay.length > underWayMax) await this.#underWay.shift()
  }

  async drain(): Promise<void> {
    await Promise.all(this.#underWay.splice(0))
  }

  /**
   * Returns whether the signatures are valid. A payment that the service submits is stored before it is sent and again
   * after it landed. If the bytes are the same, the second event reuses the first result.
   */
  #holds(
    { stream, isSent, base64 }: { stream: string; isSent: boolean; base64: string },
    transaction: ReadTransaction,
  ): Promise<boolean> {
    const sent = this.#sent.get(stream)
    if (sent?.base64 === base64) return sent.holds
    const holds = this.#verify(transaction)
    if (!isSent) return holds
    if (this.#sent.size >= sentMax) this.#sent.clear()
    this.#sent.set(stream, { base64, holds })
    return holds
  }

  #verify({ signatures, keys, message }: ReadTransaction): Promise<boolean> {
    const verdicts = signatures.map((signature, index) =>
      verifyAsync(message, this.#keyOf(keys[index] ?? Buffer.alloc(0)), signature),
    )
    const [only] = verdicts
    if (only !== undefined && verdicts.length === 1) return only
    return Promise.all(verdicts).then((all) => all.every((holds) => holds))
  }

  #keyOf(bytes: Buffer): KeyObject {
    const name = bytes.toString('latin1')
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    const key = ed25519Key(bytes)
    if (this.#keys.size >= keysMax) this.#keys.clear()
    this.#keys.set(name, key)
    return key
  }
}

// Maximum of cached key objects. Keys are cached, because few wallets make most payments and creating a key is slow.
const keysMax = 2_000
// Maximum of submitted transactions whose results are cached. A payment usually lands within seconds of its submission,
// so its second event follows soon. At the maximum, all cached results are dropped.
const sentMax = 2_000
const underWayMax = 1_000

function verifyAsync(data: Buffer, key: KeyObject, signature: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, data, key, signature, (error, holds) => (error === null ? resolve(holds) : reject(error)))
  })
}

/** Returns the instructions, or undefined if they do not show all token moves. */
function openCallsOf({ keys, instructions, usesLookupTables }: ReadTransaction): readonly ProgramCall[] | undefined {
  if (usesLookupTables) return undefined
  const names = keys.map(addressOf)
  const isOpen = instructions.every(({ program }) => showsItsMoves(names[program] ?? ''))
  if (!isOpen) return undefined
  return instructions.map(({ program, accounts, data }) => {
    return { program: names[program] ?? '', accounts: accounts.map((index) => names[index] ?? ''), data }
  })
}

function findWrong(
  { signatures, keys }: ReadTransaction,
  calls: readonly ProgramCall[] | undefined,
  { stream, stored: { payment, burn } }: { readonly stream: string; readonly stored: SignedBytes },
): string | undefined {
  const signature = base58.encode(signatures[0] ?? Buffer.alloc(0))
  if (signature !== signatureOf(stream)) return 'the stored bytes are another transaction'
  const signers = keys.slice(0, signatures.length).map(addressOf)
  if (payment !== undefined && !signers.includes(payment.wallet))
    return `${payment.wallet} did not sign the stored bytes`
  if (calls === undefined) return undefined
  if (payment !== undefined) return findWrongMemo(calls, payment) ?? findWrongAmount(calls, payment)
  if (burn === undefined) return undefined
  const storedBaseUnits = sumOf(movesIn(calls).filter((move) => move.kind === 'burn' && move.mint === burn.mint))
  if (storedBaseUnits === burn.baseUnits) return undefined
  return `the stored bytes burn ${storedBaseUnits}, and ${burn.baseUnits} are to be burned`
}

function findWrongMemo(calls: readonly ProgramCall[], { memo }: AuditedSettlement): string | undefined {
  const memos = memosOf(calls)
  if (memo === null) return memos.length === 0 ? undefined : 'the stored bytes are bound to a quote'
  return memos.length === 1 && memos[0] === memo ? undefined : 'the stored bytes have another memo'
}

function findWrongAmount(calls: readonly ProgramCall[], settlement: AuditedSettlement): string | undefined {
  const { wallet, price, burnedBaseUnits, receivedBaseUnits } = settlement
  const moves = movesIn(calls)
  const sent = moves.filter((move) => move.kind === 'transfer' && (move.mint ?? price.mint) === price.mint)
  const isOwn = ({ authority }: TokenMove): boolean => authority === wallet
  const storedBaseUnits = sumOf(moves.filter((move) => move.kind === 'burn' && move.mint === price.mint && isOwn(move)))
  // Report only smaller amounts. The bytes may show more, because moves of the wallet as a delegate are not part of the
  // payment.
  if (storedBaseUnits < burnedBaseUnits)
    return `the stored bytes burn ${storedBaseUnits}, and ${burnedBaseUnits} are recorded`
  const dueBaseUnits = dueOf(settlement)
  if (sumOf(sent.filter(isOwn)) < dueBaseUnits) return `the stored bytes do not send the ${dueBaseUnits} of the price`
  return sumOf(sent) < receivedBaseUnits
    ? `the stored bytes send ${sumOf(sent)}, and ${receivedBaseUnits} are recorded as received`
    : undefined
}
