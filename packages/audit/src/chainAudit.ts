import { StateDocument } from './auditState.ts'
import type { AuditedStream } from './auditedStream.ts'
import type { ChainNode, ChainTransaction } from './chainNode.ts'
import type { ReadEvent } from './kinds/auditedKind.ts'
import { contradictionOf, hasFailed, movesOf, sendersTo, sentTo } from './landedPayment.ts'
import type { OnChain, RecordedChange } from './onChain.ts'
import { RecordedWallets } from './recordedWallets.ts'
import type { Replay } from './replay.ts'
import type { AuditedSettlement } from './settlement.ts'
import { signatureOf, solanaStream } from './streamName.ts'
import { judgeTabCustody } from './tabCustody.ts'
import { sumOf } from './tokenMoves.ts'
import { findUnrecordedTransfers, type UnrecordedDeps } from './unrecordedTransfers.ts'
import { WalletAccounts } from './walletAccounts.ts'

export interface ChainFigures {
  confirmed: number
  /** Payments and burns that the ledger records as dropped or failed, and that had no effect on chain. */
  dropped: number
  /** Transactions older than the oldest slot of the node. */
  pruned: number
  /** Transactions in slots that did not become final while the audit waited. */
  notFinal: number
  /** Transactions of the payment token accounts that were looked up in the ledger. */
  lookedFor: number
  /** Transfers to these accounts that are missing from the ledger but recent: a caller may still present them. */
  presentable: number
  /** Answers that can be judged only after all later events of the payment have been read. */
  readonly open: OpenQuestion[]
}

/** Answer of a node that differs from the record. A later event of the payment may explain the difference. */
interface OpenQuestion {
  readonly signature: string
  readonly position: number
  readonly said: 'absent' | 'failed' | 'landed' | 'unpaid'
  /** Only for `unpaid`: the difference between the landed transaction and the record. */
  readonly message?: string
  readonly slot: number
}

interface NotedEvent {
  readonly signature: string
  readonly position: number
  readonly said: OnChain
}

// Maximum of concurrent requests, because a public node accepts only a few at a time.
const callsAtOnceMax = 16
// Maximum of open questions in memory. A node of another network would leave every payment open.
const openMax = 100_000

export interface ChainAuditOptions {
  /** Payment wallet that the auditor supplied, for a ledger without a recorded wallet. */
  readonly paymentWallet: string | undefined
  /** Maximum age of a transfer that may be missing from the ledger, because it may not have been presented yet. */
  readonly recordedWithinMs: number
}

const chainFigures = new StateDocument('chain', (): ChainFigures & { isAsked: boolean } => {
  const figures = { confirmed: 0, dropped: 0, pruned: 0, notFinal: 0, lookedFor: 0, presentable: 0 }
  return { ...figures, open: [], isAsked: false }
})

/**
 * Compares the ledger with the chain in both directions. This class checks recorded events. `findUnrecordedTransfers`
 * finds transfers that are missing from the ledger.
 */
export class ChainAudit {
  readonly figures: ChainFigures
  readonly #node: ChainNode
  readonly #replay: Replay
  readonly #wallets: RecordedWallets
  readonly #accounts: WalletAccounts
  readonly #unrecorded: UnrecordedDeps
  #waiting: NotedEvent[] = []
  /** For the report: one message for each mint in which the wallet for tabs covers all tabs. */
  custody: readonly string[] = []

  /** True if the audit in the resume file did not query a node, so the earlier events are unchecked. */
  readonly isIncomplete: boolean

  constructor(node: ChainNode, replay: Replay, { paymentWallet, recordedWithinMs }: ChainAuditOptions) {
    this.#node = node
    this.#replay = replay
    this.#wallets = new RecordedWallets(replay.periods, paymentWallet)
    this.#accounts = new WalletAccounts(node)
    const figures = chainFigures.of(replay.state)
    this.isIncomplete = replay.position > 0 && !figures.isAsked
    figures.isAsked = true
    this.figures = figures
    this.#unrecorded = { node, replay, recordedWithinMs, figures }
  }

  /** Queues the facts, so that the next `drain` can send several requests to the node at the same time. */
  note({ event, onChain }: ReadEvent, position: number): void {
    const said = onChain()
    if (said !== undefined) this.#waiting.push({ signature: signatureOf(event.stream), position, said })
  }

  async drain(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    // Call `all` before a request, because it throws if neither the ledger nor the auditor names a payment wallet.
    if (waiting.length > 0) this.#wallets.all()
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await this.#verify(next)
    }
    await Promise.all(Array.from({ length: callsAtOnceMax }, work))
  }

  /**
   * Judges the open questions, then searches for transactions of the payment token accounts that the ledger does not
   * have. Called after the last event.
   */
  async finish(): Promise<void> {
    for (const question of this.figures.open.splice(0))
      this.#judge(question, this.#replay.streams.find(solanaStream(question.signature)))
    this.#wallets.judgeGiven(this.#replay.findings)
    for (const mint of this.#replay.postings.mints()) {
      const accounts = await this.#accounts.of(mint, this.#wallets.all())
      const addresses = accounts.map(({ tokenAccount }) => tokenAccount)
      await findUnrecordedTransfers(this.#unrecorded, mint, addresses)
    }
  }

  /**
   * Finishes the audit of a live ledger: also compares the balance of the wallet for tabs with the tabs. An export may
   * be older than the current balance, so its audit calls only `finish`.
   */
  async finishLive(): Promise<void> {
    await this.finish()
    this.custody = await judgeTabCustody({ node: this.#node, replay: this.#replay, accounts: this.#accounts })
  }

  async #verify({ signature, position, said }: NotedEvent): Promise<void> {
    if (said.is === 'payment') return this.#verifyPayment(said.settlement, position)
    if (said.is === 'change') return this.#verifyChange({ ...said, signature, position })
    const landed = await this.#find({ signature, slot: said.finalizedSlot })
    if (landed === undefined) return
    // Check that a failed burn did not land, because a later round repeats it.
    const isGone = landed === 'absent' || hasFailed(landed)
    if (isGone || (said.is === 'dropped' && !(await this.#hasArrived(landed, said.mint)))) this.figures.dropped++
    else if (said.is === 'dropped') this.#leaveOpen({ signature, position, said: 'landed', slot: landed.slot })
    else this.#contradict(signature, position, 'the chain has the burn, and it is recorded as failed')
  }

  async #verifyPayment(settlement: AuditedSettlement, position: number): Promise<void> {
    const { reference, evidence } = settlement
    const [signature, { slot }] = [signatureOf(reference), evidence]
    const landed = await this.#findLanded({ signature, slot, position })
    if (landed === undefined) return
    if (hasFailed(landed)) return this.#leaveOpen({ signature, position, said: 'failed', slot: landed.slot })
    const message = await this.#findContradiction(landed, settlement)
    // After a fork, the same transaction may land in another slot with different effects. Later events must then have
    // reversed the payment, or have recorded the transaction as unmatched.
    if (message !== undefined && landed.slot !== slot)
      this.#leaveOpen({ signature, position, said: 'unpaid', slot: landed.slot, message })
    else if (message !== undefined) this.#contradict(signature, position, message)
    else if (landed.slot === slot) this.figures.confirmed++
    else this.#leaveOpen({ signature, position, said: 'landed', slot: landed.slot })
  }

  async #hasArrived(landed: ChainTransaction, mint: string): Promise<boolean> {
    const { accounts: moved } = movesOf(landed, mint)
    const accounts = await this.#accounts.of(mint, this.#wallets.all())
    return accounts.some(({ tokenAccount }) => (moved.get(tokenAccount)?.changeBaseUnits ?? 0n) > 0n)
  }

  /** Returns how a landed payment contradicts the wallets of its time. Undefined if it agrees with one wallet. */
  async #findContradiction(landed: ChainTransaction, settlement: AuditedSettlement): Promise<string | undefined> {
    const { mint } = settlement.price
    const wallets = this.#wallets.acceptedAt(mint, settlement.evidence.blockTimeMs)
    const accounts = await this.#accounts.of(mint, wallets)
    const messages = accounts.map((paid) => contradictionOf(landed, settlement, paid))
    if (messages.length === 0) return 'no payment wallet is on record for its time'
    return messages.includes(undefined) ? undefined : messages[0]
  }

  async #verifyChange(recorded: NotedChange): Promise<void> {
    const { signature, mint, slot, changeBaseUnits, leftAtMs, position } = recorded
    const landed = await this.#findLanded(recorded)
    if (landed === undefined) return
    if (hasFailed(landed)) return this.#leaveOpen({ signature, position, said: 'failed', slot })
    const moved = movesOf(landed, mint)
    const wallets = leftAtMs === undefined ? this.#wallets.all() : this.#wallets.payingAt(leftAtMs)
    const accounts = await this.#accounts.of(mint, wallets)
    const changes = accounts.map(
      ({ tokenAccount }) => [tokenAccount, moved.accounts.get(tokenAccount)?.changeBaseUnits ?? 0n] as const,
    )
    const [account, ofOneBaseUnits = 0n] =
      changes.find(([, each]) => each === changeBaseUnits) ?? changes.find(([, each]) => each !== 0n) ?? []
    // The ledger has one sum for tokens that arrived in several wallets at once.
    const allBaseUnits = changes.reduce((sum, [, each]) => sum + each, 0n)
    const foundBaseUnits = allBaseUnits === changeBaseUnits ? allBaseUnits : ofOneBaseUnits
    if (foundBaseUnits !== changeBaseUnits)
      this.#contradict(signature, position, `${foundBaseUnits} moved, and ${changeBaseUnits} is recorded`)
    else if (landed.slot !== slot) this.#contradict(signature, position, `it landed in ${landed.slot}, not ${slot}`)
    else this.figures.confirmed++
    if (account === undefined) return
    this.#verifyReceivers(sentTo(moved, account), recorded)
    this.#verifySender(sendersTo(moved, new Set(changes.map(([own]) => own))), recorded)
    // Compare the burned amount too, because a transfer could cause the same change of balance.
    const burnedBaseUnits = sumOf(moved.moves.filter(({ kind }) => kind === 'burn'))
    if (recorded.burnedBaseUnits !== undefined && burnedBaseUnits !== recorded.burnedBaseUnits)
      this.#contradict(
        signature,
        position,
        `it burned ${burnedBaseUnits}, and ${recorded.burnedBaseUnits} are recorded`,
      )
  }

  /** Checks that the recorded wallet sent the tokens, because the service owes unmatched tokens to this wallet. */
  #verifySender(senders: ReadonlySet<string>, { sender, signature, position }: NotedChange): void {
    if (sender === undefined || (sender === null ? senders.size === 0 : senders.has(sender))) return
    this.#contradict(
      signature,
      position,
      `${[...senders].join(' or ') || 'nobody'} sent it, and ${sender ?? 'nobody'} is recorded`,
    )
  }

  /** Checks the amount that each wallet received. A correct total could hide a payment to a wrong wallet. */
  #verifyReceivers(sent: ReadonlyMap<string, bigint>, { receivers, signature, position }: NotedChange): void {
    if (receivers === undefined) return
    const recorded = new Map<string, bigint>()
    for (const { wallet, paidBaseUnits } of receivers)
      recorded.set(wallet, (recorded.get(wallet) ?? 0n) + paidBaseUnits)
    for (const wallet of new Set([...sent.keys(), ...recorded.keys()])) {
      const [foundBaseUnits, recordedBaseUnits] = [sent.get(wallet) ?? 0n, recorded.get(wallet) ?? 0n]
      if (foundBaseUnits !== recordedBaseUnits)
        this.#contradict(
          signature,
          position,
          `${foundBaseUnits} went to ${wallet}, and ${recordedBaseUnits} are recorded`,
        )
    }
  }

  /** Returns the transaction. If the chain does not have it, leaves the question open and returns undefined. */
  async #findLanded({ signature, slot, position }: RecordedTransaction): Promise<ChainTransaction | undefined> {
    const found = await this.#find({ signature, slot })
    if (found !== 'absent') return found
    this.#leaveOpen({ signature, position, said: 'absent', slot })
    return undefined
  }

  /**
   * Returns the transaction, or `absent` if the chain does not have it. Undefined if the node cannot decide this,
   * because the slot is pruned or not final. Such a transaction is only counted.
   */
  async #find({
    signature,
    slot,
  }: Omit<RecordedTransaction, 'position'>): Promise<ChainTransaction | 'absent' | undefined> {
    const known = await this.#node.transaction(signature)
    if (known !== undefined) return known
    if (slot < (await this.#node.firstSlot())) {
      this.figures.pruned++
      return undefined
    }
    if (!(await this.#node.untilFinal(slot))) {
      this.figures.notFinal++
      return undefined
    }
    return (await this.#node.transaction(signature)) ?? 'absent'
  }

  #leaveOpen(question: OpenQuestion): void {
    if (this.figures.open.length < openMax) this.figures.open.push(question)
    else this.#judge(question, undefined)
  }

  /** Reports the difference, unless a later event of the payment, such as a reversal, explains it. */
  #judge(
    { signature, position, said, slot, message: instead }: OpenQuestion,
    payment: AuditedStream | undefined,
  ): void {
    const isReversed = payment?.state === 'reversed'
    const isUnmatched = payment?.state === 'unmatched'
    if (said === 'landed') {
      if (isReversed) this.#contradict(signature, position, 'the chain has it, and it is recorded as dropped')
      else if (payment?.slot === slot || isUnmatched) this.figures.confirmed++
      else this.#contradict(signature, position, `it landed in slot ${slot}, and ${payment?.slot} is recorded`)
    } else if (said === 'unpaid') {
      if (!isReversed && !isUnmatched)
        this.#contradict(signature, position, `${instead}; it landed again, in slot ${slot}`)
    } else if (!isReversed) {
      const code = said === 'failed' ? 'transaction_failed' : 'transaction_unknown'
      const message =
        said === 'failed'
          ? 'it failed on chain'
          : `the chain has no such transaction, and the node has the slot ${slot}`
      this.#replay.findings.add(code, { position, subject: signature, message })
    }
  }

  #contradict(subject: string, position: number, message: string): void {
    this.#replay.findings.add('transaction_contradicts', { position, subject, message })
  }
}

interface RecordedTransaction {
  readonly signature: string
  readonly slot: number
  readonly position: number
}

type NotedChange = RecordedChange & Omit<NotedEvent, 'said'>
