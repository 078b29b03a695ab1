import { type AuditedEvent, readAnyEvent, type UnknownEvent } from './auditedEvent.ts'
import { UnreadableBody } from './bodyReader.ts'
import { type FindingCode, Findings, type FindingsState } from './findings.ts'
import { GrowingTree, type TreeState } from './growingTree.ts'
import { HolderPayouts, type HolderPlanState } from './holderPayouts.ts'
import { type EnteredPosting, Journal, type JournalPlace, type JournalState } from './journal.ts'
import { NumberedNames } from './numberedNames.ts'
import { type OtherStream, OtherStreams } from './otherStreams.ts'
import { isPaymentEvent, type PaymentEvent } from './paymentEvents.ts'
import { PaymentLifecycles } from './paymentLifecycles.ts'
import type { Recorded } from './paymentRules.ts'
import { PaymentTable } from './paymentTable.ts'
import type { PayoutEvent } from './payoutEvents.ts'
import { Payouts, type PayoutsState } from './payouts.ts'
import { PositionIndex } from './positionIndex.ts'
import { mintOf, postingsOf } from './postings.ts'
import { matchPostings } from './matchPostings.ts'
import { Refunds } from './refunds.ts'
import { PublishedPrices, type PublishedPricesState } from './publishedPrices.ts'
import { type EventColumns, leafHashOf, type RawEvent, type StoredPostings } from './rawEvent.ts'
import { SaltedDigest } from './saltedDigest.ts'
import { SettingPeriods, type SettingPeriodsState } from './settingPeriods.ts'
import { Settings, type SettingSeen } from './settings.ts'
import { TilesMatch, type TilesState } from './tilesMatch.ts'
import { UnknownKinds, type UnknownKindsState, unknownStreamMark } from './unknownKinds.ts'

/** State after the events so far, except for the payments, which are too many for JSON. */
export interface ReplayState {
  readonly salt: string
  readonly position: number
  readonly recordedAtMs: number
  /** Base64. */
  readonly lastLeaf: string
  readonly tree: TreeState
  readonly tiles: TilesState
  readonly findings: FindingsState
  readonly journal: JournalState
  readonly prices: PublishedPricesState
  readonly names: readonly string[]
  readonly otherStreams: readonly OtherStream[]
  readonly settings: readonly SettingSeen[]
  readonly periods: SettingPeriodsState
  readonly payouts: PayoutsState
  readonly holderPayouts: readonly HolderPlanState[]
  readonly unknownKinds: UnknownKindsState
}

export interface ReplayTables {
  readonly payments: PaymentTable
  readonly streams: PositionIndex
}

/** Called for each event that could be read, after it has been judged. */
export type OnEvent = (event: AuditedEvent, position: number) => void

/** Replays the ledger from its bodies, from the first event on, with code that the write path does not share. */
export class Replay {
  readonly findings: Findings
  readonly tree: GrowingTree
  readonly tiles: TilesMatch
  readonly journal: Journal
  readonly payments: PaymentTable
  /** Number of the payment that the event at a position belongs to, from 1; 0 or a mark for other streams. */
  readonly streams: PositionIndex
  readonly digest: SaltedDigest
  readonly names: NumberedNames
  readonly otherStreams: OtherStreams
  readonly settings: Settings
  readonly periods: SettingPeriods
  readonly payouts: Payouts
  readonly holderPayouts: HolderPayouts
  readonly prices: PublishedPrices
  readonly unknownKinds: UnknownKinds
  readonly #lifecycles: PaymentLifecycles
  readonly #refunds: Refunds
  #position: number
  #recordedAtMs: number
  #lastLeaf: string

  constructor(state?: ReplayState, tables?: ReplayTables) {
    this.findings = new Findings(state?.findings)
    this.tree = new GrowingTree(state?.tree)
    this.tiles = new TilesMatch(this.findings, state?.tiles)
    this.tree.onSubtree = (level, hash) => this.tiles.add(level, hash)
    this.journal = new Journal(state?.journal)
    this.payments = tables?.payments ?? new PaymentTable()
    this.streams = tables?.streams ?? new PositionIndex()
    this.digest = new SaltedDigest(state?.salt)
    this.names = new NumberedNames(state?.names)
    this.otherStreams = new OtherStreams(this.findings, state?.otherStreams)
    this.prices = new PublishedPrices(this.digest, state?.prices)
    this.unknownKinds = new UnknownKinds(this.digest, state?.unknownKinds)
    const { findings, payments, digest, names, journal, prices, otherStreams: streams } = this
    this.periods = new SettingPeriods(findings, state?.periods)
    this.settings = new Settings({ findings, streams, prices, periods: this.periods }, state?.settings)
    const isPayment = (stream: string): boolean => payments.find(digest.pairOf(stream)) !== undefined
    this.payouts = new Payouts({ findings, journal, streams, isPayment }, state?.payouts)
    this.holderPayouts = new HolderPayouts({ findings, journal, streams }, state?.holderPayouts)
    const findPayment = (stream: string) => {
      const index = payments.find(digest.pairOf(stream))
      return index === undefined ? undefined : payments.read(index)
    }
    this.#refunds = new Refunds({ findings, streams, findPayment, digestOf: (wallet) => digest.of(wallet) })
    this.#lifecycles = new PaymentLifecycles({ findings, payments, digest, names, prices })
    this.#position = state?.position ?? 0
    this.#recordedAtMs = state?.recordedAtMs ?? -Infinity
    this.#lastLeaf = Buffer.from(state?.lastLeaf ?? '', 'base64').toString('latin1')
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

  /** False in the middle of an append. */
  get mayPause(): boolean {
    return this.#lifecycles.mayPause
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
    if ('isUnknown' in event || this.unknownKinds.has(event.stream)) return this.#passOver(event, raw)
    const mint = mintOf(event)
    const place = { position, recordedAtMs, effectiveAtMs: event.effectiveAtMs }
    const entered = mint === undefined ? noPostings : this.journal.enter(mint, place, postingsOf(event))
    if (raw.columns !== undefined) matchPostings(raw.columns.postings, entered, { position, findings: this.findings })
    const firstPosition = this.#advance(event, { position, recordedAtMs }, body)
    if (raw.columns !== undefined) this.#compareColumns(event, raw.columns, { position, firstPosition })
    onEvent?.(event, position)
  }

  /** The ledger ends here. */
  finish(): void {
    this.#lifecycles.settle()
    this.periods.judgeSplits()
    const sums = new Map<string, bigint>()
    for (const { mint, balanceBaseUnits: balance } of this.journal.accounts())
      sums.set(mint, (sums.get(mint) ?? 0n) + balance)
    for (const [mint, sum] of sums) {
      if (sum !== 0n) this.#blame('ledger_unbalanced', this.#position, `the accounts of ${mint} sum to ${sum}`)
    }
  }

  state(): ReplayState {
    this.#lifecycles.park()
    return {
      salt: this.digest.salt,
      position: this.#position,
      recordedAtMs: this.#recordedAtMs,
      lastLeaf: Buffer.from(this.#lastLeaf, 'latin1').toString('base64'),
      tree: this.tree.state(),
      tiles: this.tiles.state(),
      findings: this.findings.state(),
      journal: this.journal.state(),
      prices: this.prices.state(),
      names: this.names.all(),
      otherStreams: this.otherStreams.all(),
      settings: this.settings.all(),
      periods: this.periods.state(),
      payouts: this.payouts.state(),
      holderPayouts: this.holderPayouts.state(),
      unknownKinds: this.unknownKinds.state(),
    }
  }

  /** An event of a stream whose kind is not known: it counts, and its postings are taken as they are stored. */
  #passOver(event: AuditedEvent | UnknownEvent, { position, recordedAtMs, columns }: RawEvent): void {
    this.#lifecycles.settle()
    if (!this.unknownKinds.has(event.stream)) {
      if (!('isUnknown' in event)) return
      if (this.#isKnown(event.stream))
        return this.#blame('body_unreadable', position, `${event.kind} is not known in it`)
      this.unknownKinds.open(event, position)
    }
    const { firstPosition, versionBefore } = this.unknownKinds.advance(event)
    this.streams.set(position, unknownStreamMark)
    if (event.version !== versionBefore + 1)
      this.#blame('version_missing', position, `version ${event.version} of the stream follows ${versionBefore}`)
    if (columns === undefined) return
    this.#enterStored(columns.postings, { position, recordedAtMs, effectiveAtMs: event.effectiveAtMs })
    this.#compareColumns(event, columns, { position, firstPosition })
  }

  #isKnown(stream: string): boolean {
    return this.payments.find(this.digest.pairOf(stream)) !== undefined || this.otherStreams.find(stream) !== undefined
  }

  #enterStored({ debits, credits, amounts }: StoredPostings, place: JournalPlace): void {
    for (const [line, amountBaseUnits] of amounts.entries()) {
      const [debit, credit] = [debits[line], credits[line]]
      if (debit === undefined || credit === undefined)
        this.#blame('posting_differs', place.position, `posting ${line} names an account that has no row`)
      else this.journal.enter(debit.mint, place, [[debit.name, credit.name, amountBaseUnits]])
    }
  }

  /** Judges the event by the rules of its kind of stream. Gives the position of the stream's first event. */
  #advance(event: AuditedEvent, recorded: Recorded, body: string): number {
    if (isPaymentEvent(event)) return this.#advancePayment(event, recorded)
    // The event belongs to another stream, so the append of a payment has ended.
    this.#lifecycles.settle()
    if (event.kind === 'PriceListPublished') this.settings.publish(event, recorded, this.digest.of(body))
    else if (event.kind === 'SettingChanged') this.settings.change(event, recorded, this.digest.of(body))
    else if (event.kind === 'DistributionPaid') this.#payOut(event, recorded)
    else if (event.kind === 'HolderPayoutPlanned' || event.kind === 'HolderPayoutEnded')
      this.holderPayouts.judge(event, recorded)
    else if (event.kind === 'RefundApproved' || event.kind === 'RefundGranted') this.#refunds.judge(event, recorded)
    else this.payouts.judgeBurn(event, recorded)
    return this.otherStreams.find(event.stream)?.positions[0] ?? recorded.position
  }

  #payOut(event: PayoutEvent, recorded: Recorded): void {
    this.payouts.judgePayout(event, recorded)
    this.holderPayouts.judgePart(event, recorded)
  }

  #advancePayment(event: PaymentEvent, recorded: Recorded): number {
    const { index, firstPosition } = this.#lifecycles.advance(event, recorded)
    this.streams.set(recorded.position, index + 1)
    if (firstPosition === recorded.position && this.otherStreams.find(event.stream) !== undefined) {
      this.#blame('lifecycle_impossible', recorded.position, 'the transaction is a payout or a burn of ours already')
    }
    if (event.kind === 'BurnOwed') this.payouts.oweBurn(event, event.owedBaseUnits)
    if (event.kind === 'PaymentReversed') this.payouts.oweBurn(event, -event.burnOwedBaseUnits)
    return firstPosition
  }

  #placeInOrder({ position, recordedAtMs }: RawEvent): void {
    const expected = this.#position + 1
    if (position > expected) {
      const missing = position === expected + 1 ? `${expected} is` : `${expected} to ${position - 1} are`
      this.#blame('position_missing', expected, `position ${missing} not in the ledger`)
    } else if (position < expected) {
      this.#blame('position_missing', position, `position ${position} follows ${this.#position}`)
    }
    if (recordedAtMs < this.#recordedAtMs) {
      this.#blame('recorded_out_of_order', position, 'it was recorded before the event in front of it')
    }
    this.#position = position
    this.#recordedAtMs = recordedAtMs
  }

  #read(latin1: string, position: number): AuditedEvent | UnknownEvent | undefined {
    try {
      return readAnyEvent(latin1)
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      this.#blame('body_unreadable', position, error.message)
      this.#lifecycles.overlook()
      return undefined
    }
  }

  #compareColumns(
    event: AuditedEvent | UnknownEvent,
    columns: EventColumns,
    { position, firstPosition }: EventPlace,
  ): void {
    const { stream, version, kind, schemaVersion, effectiveAtMs } = columns
    const differing = [
      stream !== firstPosition && `stream holds ${stream}, and the first event is at ${firstPosition}`,
      version !== event.version && `version holds ${version}, and the event says ${event.version}`,
      kind !== event.kind && `kind holds ${kind}, and the event says ${event.kind}`,
      schemaVersion !== event.schemaVersion && `schema_version holds ${schemaVersion}, and not ${event.schemaVersion}`,
      effectiveAtMs !== event.effectiveAtMs && `effective_at holds ${effectiveAtMs}, and not ${event.effectiveAtMs}`,
    ]
    for (const difference of differing) {
      if (difference === false) continue
      this.findings.add('column_differs', { position, subject: event.stream, message: `the column ${difference}` })
    }
  }

  #blame(code: FindingCode, position: number, message: string): void {
    this.findings.add(code, { position, subject: `position ${position}`, message })
  }
}

const noPostings: readonly EnteredPosting[] = []

interface EventPlace {
  readonly position: number
  readonly firstPosition: number
}
