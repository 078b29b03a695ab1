import type { AuditedSettlement, PaymentEvent } from './auditedEvent.ts'
import { type ChainNode, signaturesPerPage } from './chainNode.ts'
import { contradictionOf, movesOf } from './landedPayment.ts'
import type { Replay } from './replay.ts'
import { associatedTokenAccount } from './tokenAccountAddress.ts'
import { phaseNumber } from './paymentTable.ts'

export interface ChainFigures {
  confirmed: number
  /** Older than anything the node has. */
  pruned: number
  /** Newer than what is final. */
  notFinal: number
  /** Signatures of the payment token account that were looked for in the book. */
  lookedFor: number
}

// A public node takes a few requests at a time; a private one answers so many in a millisecond or two each.
const callsAtOnceMax = 16

/** The book against the chain, in both directions. */
export class ChainAudit {
  readonly figures: ChainFigures
  readonly #node: ChainNode
  readonly #replay: Replay
  readonly #paymentWallet: string
  readonly #tokenAccounts = new Map<string, Promise<string>>()
  #waiting: { readonly settlement: AuditedSettlement; readonly position: number }[] = []

  constructor(node: ChainNode, replay: Replay, options: { paymentWallet: string; figures?: ChainFigures | undefined }) {
    this.#node = node
    this.#replay = replay
    this.#paymentWallet = options.paymentWallet
    this.figures = options.figures ?? { confirmed: 0, pruned: 0, notFinal: 0, lookedFor: 0 }
  }

  /** Notes a payment for the next `drain`. */
  note(event: PaymentEvent, position: number): void {
    if (event.kind === 'PaymentVerified') this.#waiting.push({ settlement: event.settlement, position })
  }

  /** Asks the node for every payment that was noted. */
  async drain(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await this.#verify(next.settlement, next.position)
      }
    }
    await Promise.all(Array.from({ length: callsAtOnceMax }, work))
  }

  /** The other direction: what the payment token account has received, and the book does not have. */
  async findUnbooked(mints: readonly string[]): Promise<void> {
    for (const mint of mints) await this.#searchAccount(mint, await this.#tokenAccountOf(mint))
  }

  async #verify(settlement: AuditedSettlement, position: number): Promise<void> {
    const { signature, slot, price } = settlement
    const { findings } = this.#replay
    const landed = await this.#node.transaction(signature)
    if (landed === undefined) return this.#judgeAbsence({ signature, slot, position })
    if (landed.meta.err !== null && landed.meta.err !== undefined) {
      findings.add('transaction_failed', { position, subject: signature, message: 'it failed on chain' })
      return
    }
    const message = contradictionOf(landed, settlement, await this.#tokenAccountOf(price.mint))
    if (message === undefined) this.figures.confirmed++
    else findings.add('transaction_contradicts', { position, subject: signature, message })
  }

  /** A node that has forgotten, or does not know yet, has not said that there was no payment. */
  async #judgeAbsence({
    signature,
    slot,
    position,
  }: {
    readonly signature: string
    readonly slot: number
    readonly position: number
  }): Promise<void> {
    if (slot < (await this.#node.firstSlot())) this.figures.pruned++
    else if (slot > (await this.#node.finalSlot())) this.figures.notFinal++
    else {
      const message = `the chain has no such transaction, and the node has the slot ${slot}`
      this.#replay.findings.add('transaction_unknown', { position, subject: signature, message })
    }
  }

  async #searchAccount(mint: string, account: string): Promise<void> {
    let before: string | undefined
    for (;;) {
      const page = await this.#node.signaturesOf(account, before)
      for (const { signature, err, blockTime } of page) {
        const failed = err !== null && err !== undefined
        // What landed after the book's last event may still be presented.
        const isYounger = (blockTime ?? 0) * 1000 > this.#replay.recordedAtMs
        if (failed || isYounger) continue
        this.figures.lookedFor++
        if (!this.#isBooked(signature)) await this.#judgeUnbooked({ signature, mint, account })
      }
      before = page.at(-1)?.signature
      if (page.length < signaturesPerPage) return
    }
  }

  #isBooked(signature: string): boolean {
    const { payments, digest } = this.#replay
    const index = payments.find(digest.pairOf(signature))
    return index !== undefined && payments.read(index).phase >= phaseNumber('verified')
  }

  async #judgeUnbooked({
    signature,
    mint,
    account,
  }: {
    signature: string
    mint: string
    account: string
  }): Promise<void> {
    const landed = await this.#node.transaction(signature)
    if (landed === undefined) return
    const { moves, changes } = movesOf(landed, mint)
    const change = changes.get(account)?.change ?? 0n
    if (change === 0n) return
    const burned = moves.filter(({ kind }) => kind === 'burn').reduce((sum, { amount }) => sum + amount, 0n)
    const message =
      change > 0n
        ? `${change} arrived${burned > 0n ? ` and ${burned} were burned` : ''} in slot ${landed.slot}`
        : `${-change} left in slot ${landed.slot}`
    this.#replay.findings.add('not_in_the_book', { position: undefined, subject: signature, message })
  }

  /** The associated token account of the payment wallet; payments to any other do not count. */
  #tokenAccountOf(mint: string): Promise<string> {
    const known = this.#tokenAccounts.get(mint) ?? this.#deriveTokenAccount(mint)
    this.#tokenAccounts.set(mint, known)
    return known
  }

  async #deriveTokenAccount(mint: string): Promise<string> {
    const tokenProgram = await this.#node.tokenProgramOf(mint)
    return associatedTokenAccount({ wallet: this.#paymentWallet, tokenProgram, mint })
  }
}
