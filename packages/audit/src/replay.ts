import {
  type AuditedEvent,
  type PaymentEvent,
  type PayoutEvent,
  type PriceListEvent,
  readEvent,
} from './auditedEvent.ts'
import { UnreadableBody } from './bodyReader.ts'
import { type FindingCode, Findings, type FindingsState } from './findings.ts'
import { GrowingTree, type TreeState } from './growingTree.ts'
import { Journal, type JournalState } from './journal.ts'
import type { Recorded } from './lifeRules.ts'
import { Lives } from './lives.ts'
import { Names } from './names.ts'
import { PaymentTable } from './paymentTable.ts'
import { Payouts, type PayoutSeen } from './payouts.ts'
import { PositionIndex } from './positionIndex.ts'
import { PriceBook, type PriceBookState } from './priceBook.ts'
import { type EventColumns, leafHashOf, type RawEvent } from './rawEvent.ts'
import { SaltedDigest } from './saltedDigest.ts'
import { TilesMatch, type TilesState } from './tilesMatch.ts'

/** Everything that the events so far have shown, but the payments, which are too many for JSON. */
export interface ReplayState {
  readonly salt: string
  readonly position: number
  readonly recordedAtMs: number
  /** Base64. */
  readonly lastLeaf: string
  readonly priceVersion: number
  readonly tree: TreeState
  readonly tiles: TilesState
  readonly findings: FindingsState
  readonly journal: JournalState
  readonly prices: PriceBookState
  readonly names: readonly string[]
  readonly priceLists: readonly PriceListSeen[]
  readonly payouts: readonly PayoutSeen[]
}

/** A price list's event, for the comparison with its row. */
export interface PriceListSeen {
  readonly version: number
  readonly position: number
  readonly digest: number
}

export interface ReplayTables {
  readonly payments: PaymentTable
  readonly streams: PositionIndex
}

/** Told of each event that could be read, after it has been judged. */
export type OnEvent = (event: AuditedEvent, position: number) => void

/** The whole book lived again from its bodies, from the first event on. Shares no code with what wrote it. */
export class Replay {
  readonly findings: Findings
  readonly tree: GrowingTree
  readonly tiles: TilesMatch
  readonly journal: Journal
  readonly payments: PaymentTable
  /** Which payment the event at a position belongs to. */
  readonly streams: PositionIndex
  readonly digest: SaltedDigest
  readonly names: Names
  readonly priceLists: PriceListSeen[]
  readonly payouts: Payouts
  readonly #prices: PriceBook
  readonly #lives: Lives
  #position: number
  #recordedAtMs: number
  #lastLeaf: string
  #priceVersion: number

  constructor(state?: ReplayState, tables?: ReplayTables) {
    this.findings = new Findings(state?.findings)
    this.tree = new GrowingTree(state?.tree)
    this.tiles = new TilesMatch(this.findings, state?.tiles)
    this.tree.onSubtree = (level, hash) => this.tiles.add(level, hash)
    this.journal = new Journal(state?.journal)
    this.payments = tables?.payments ?? new PaymentTable()
    this.streams = tables?.streams ?? new PositionIndex()
    this.digest = new SaltedDigest(state?.salt)
    this.names = new Names(state?.names)
    this.priceLists = [...(state?.priceLists ?? [])]
    this.payouts = new Payouts({ findings: this.findings, journal: this.journal }, state?.payouts)
    this.#prices = new PriceBook(state?.prices)
    this.#position = state?.position ?? 0
    this.#recordedAtMs = state?.recordedAtMs ?? -Infinity
    this.#lastLeaf = Buffer.from(state?.lastLeaf ?? '', 'base64').toString('latin1')
    this.#priceVersion = state?.priceVersion ?? 0
    const { findings, payments, digest, names } = this
    this.#lives = new Lives({ findings, payments, digest, names, prices: this.#prices })
  }

  /** The last position that was read. */
  get position(): number {
    return this.#position
  }

  get recordedAtMs(): number {
    return this.#recordedAtMs
  }

  /** The stored leaf hash of the last event, one character for each byte. */
  get lastLeaf(): string {
    return this.#lastLeaf
  }

  /** Not between two events that belong together. */
  get mayPause(): boolean {
    return this.#lives.mayPause
  }

  apply(raw: RawEvent, onEvent?: OnEvent): void {
    const { position, recordedAtMs, bytes, bodyStart, bodyEnd } = raw
    this.#placeInOrder(raw)
    const leaf = leafHashOf(raw)
    if (leaf !== raw.leafHash) {
      this.#blame('leaf_mismatch', position, 'the stored hash is not that of position, time and body')
    }
    this.tree.add(leaf)
    this.#lastLeaf = raw.leafHash
    const body = bytes.toString('latin1', bodyStart, bodyEnd)
    const event = this.#read(body, position)
    if (event === undefined) return
    if (raw.columns !== undefined) this.#compareColumns(event, raw.columns, position)
    if (event.kind === 'PriceListPublished') {
      this.#lives.settle()
      this.#publish(event, { position, recordedAtMs })
      this.priceLists.push({ version: event.version, position, digest: this.digest.of(body) })
    } else if (event.kind === 'DistributionPaid') this.#payOut(event, raw)
    else this.#live(event, { position, recordedAtMs })
    onEvent?.(event, position)
  }

  /** The book ends here. */
  finish(): void {
    this.#lives.settle()
    const sums = new Map<string, bigint>()
    for (const { mint, balance } of this.journal.accounts()) sums.set(mint, (sums.get(mint) ?? 0n) + balance)
    for (const [mint, sum] of sums) {
      if (sum !== 0n) this.#blame('books_unbalanced', this.#position, `the accounts of ${mint} sum to ${sum}`)
    }
  }

  state(): ReplayState {
    this.#lives.park()
    return {
      salt: this.digest.salt,
      position: this.#position,
      recordedAtMs: this.#recordedAtMs,
      lastLeaf: Buffer.from(this.#lastLeaf, 'latin1').toString('base64'),
      priceVersion: this.#priceVersion,
      tree: this.tree.state(),
      tiles: this.tiles.state(),
      findings: this.findings.state(),
      journal: this.journal.state(),
      prices: this.#prices.state(),
      names: this.names.all(),
      priceLists: this.priceLists,
      payouts: this.payouts.state(),
    }
  }

  #live(event: PaymentEvent, recorded: Recorded): void {
    this.streams.set(recorded.position, this.#lives.advance(event, recorded) + 1)
    this.journal.post(event, recorded.position)
    const burnedAtMs = this.#lives.payment?.blockTimeMs
    if (event.kind === 'PaymentReversed' && burnedAtMs !== undefined) this.journal.takeBackBurn(event, burnedAtMs)
  }

  #payOut(event: PayoutEvent, { position, recordedAtMs, leafHash }: RawEvent): void {
    this.#lives.settle()
    this.journal.post(event, position)
    const leaf = Buffer.from(leafHash, 'latin1').toString('base64')
    this.payouts.judge(event, { position, recordedAtMs, leafHash: leaf })
  }

  #placeInOrder({ position, recordedAtMs }: RawEvent): void {
    const expected = this.#position + 1
    if (position > expected) {
      const missing = position === expected + 1 ? `${expected} is` : `${expected} to ${position - 1} are`
      this.#blame('position_missing', expected, `position ${missing} not in the book`)
    } else if (position < expected) {
      this.#blame('position_missing', position, `position ${position} stands behind ${this.#position}`)
    }
    if (recordedAtMs < this.#recordedAtMs) {
      this.#blame('recorded_out_of_order', position, 'it was recorded before the event in front of it')
    }
    this.#position = position
    this.#recordedAtMs = recordedAtMs
  }

  #read(latin1: string, position: number): AuditedEvent | undefined {
    try {
      return readEvent(latin1)
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      this.#blame('body_unreadable', position, error.message)
      this.#lives.overlook()
      return undefined
    }
  }

  #compareColumns(event: AuditedEvent, columns: EventColumns, position: number): void {
    if (columns.stream !== event.stream) this.#blameColumn('stream', columns.stream, { event, position })
    if (columns.version !== event.version) this.#blameColumn('version', columns.version, { event, position })
    if (columns.kind !== event.kind) this.#blameColumn('kind', columns.kind, { event, position })
    if (columns.schemaVersion !== event.schemaVersion) {
      this.#blameColumn('schema_version', columns.schemaVersion, { event, position })
    }
    if (columns.effectiveAtMs !== event.effectiveAtMs) {
      this.#blameColumn('effective_at', columns.effectiveAtMs, { event, position })
    }
  }

  #blameColumn(
    column: string,
    found: string | number,
    { event, position }: { readonly event: AuditedEvent; readonly position: number },
  ): void {
    const message = `the column ${column} holds ${found}, and the body says otherwise`
    this.findings.add('column_differs', { position, subject: event.stream, message })
  }

  #publish(event: PriceListEvent, { position, recordedAtMs }: { position: number; recordedAtMs: number }): void {
    const expected = this.#priceVersion + 1
    if (event.stream !== 'prices') this.#blame('life_impossible', position, 'a price list stands in another stream')
    if (event.version !== expected) {
      this.#blame('version_missing', position, `version ${event.version} of the prices follows ${this.#priceVersion}`)
    }
    for (const { problem, endpoint } of event.prices) {
      if (problem !== undefined) this.#blame('price_wrong', position, `${endpoint}: ${problem}`)
    }
    this.#priceVersion = event.version
    this.#prices.publish(event, recordedAtMs)
  }

  #blame(code: FindingCode, position: number, message: string): void {
    this.findings.add(code, { position, subject: `position ${position}`, message })
  }
}
