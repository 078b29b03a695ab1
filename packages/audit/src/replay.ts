import { hash } from 'node:crypto'
import { classOf } from './accountClass.ts'
import type { AuditedStream } from './auditedStream.ts'
import { AuditState, StateDocument } from './auditState.ts'
import { type FindingCode, Findings } from './findings.ts'
import type { GrowingTree } from './growingTree.ts'
import type { HolderSnapshot } from './holderSnapshot.ts'
import { type AccountTotals, type EnteredPosting, PostingReplay, type PostingPlace } from './postingReplay.ts'
import type { UnknownEvent } from './kinds.ts'
import { type ReadEvent, type ReplayedLedger, type SettingRow, settingRow } from './kinds/auditedKind.ts'
import { matchPostings } from './matchPostings.ts'
import { PublishedPrices } from './publishedPrices.ts'
import type { RawEvent, StoredPostings } from './rawEvent.ts'
import { Records } from './records.ts'
import { SettingPeriods } from './settingPeriods.ts'
import type { StoredRows } from './storedRows.ts'
import { Streams, unknownMark } from './streams.ts'
import { TilesMatch } from './tilesMatch.ts'

/** Called for each event of a known kind, after its checks. */
export type OnEvent = (event: ReadEvent, position: number) => void

const before = new StateDocument('before', () => ({ effectiveAt: 0 }))

/** Replays the ledger from its event bodies, from the first event on. The write path does not use this code. */
export class Replay implements ReplayedLedger {
  readonly state: AuditState
  readonly findings: Findings
  readonly records: Records
  readonly tiles: TilesMatch
  readonly postings: PostingReplay
  readonly streams: Streams
  readonly settings: StoredRows<SettingRow>
  readonly periods: SettingPeriods
  readonly prices: PublishedPrices
  snapshots: ReadonlyMap<string, HolderSnapshot> = new Map()

  readonly #before: ReturnType<(typeof before)['of']>

  constructor(state: AuditState = AuditState.small()) {
    this.state = state
    this.#before = before.of(state)
    this.findings = new Findings(state)
    this.records = new Records(this.findings, state)
    this.tiles = new TilesMatch(this.findings, state)
    this.records.tree.onSubtree = (level, hash) => this.tiles.add(level, hash)
    this.postings = new PostingReplay(state)
    this.streams = new Streams(this.findings, state)
    this.records.kindOf = (stream) => this.streams.find(stream)?.kind
    this.settings = state.rows({ name: 'settings', key: 'id', schema: settingRow })
    this.periods = new SettingPeriods(this.findings, state)
    this.prices = new PublishedPrices(state)
  }

  get tree(): GrowingTree {
    return this.records.tree
  }

  get position(): number {
    return this.records.position
  }

  get recordedAtMs(): number {
    return this.records.recordedAtMs
  }

  apply(raw: RawEvent, onEvent?: OnEvent): void {
    const { position, recordedAtMs, columns } = raw
    this.state.trim()
    const read = this.records.take(raw)
    if (read === undefined) return this.streams.overlook()
    const { event } = read
    const known = this.streams.find(event.stream)
    if (read.kind === undefined || known?.kind.startsWith(unknownMark) === true) return this.#passOver(read, known, raw)
    const place = { position, recordedAtMs, effectiveAtMs: event.effectiveAt }
    const entered = read.mint === undefined ? noPostings : this.postings.enter(read.mint, place, read.postings())
    const { firstPosition } = this.#advance(read, known ?? read.kind.kind, raw)
    if (columns !== undefined) {
      matchPostings(columns.postings, entered, { position, findings: this.findings })
      this.records.compareColumns(event, columns, { position, firstPosition })
    }
    this.#before.effectiveAt = event.effectiveAt
    onEvent?.(read, position)
  }

  /**
   * Makes the checks that need all events: the open append, the splits, the limits of the accounts, and their sum.
   * Called after the last event.
   */
  finish(): void {
    this.streams.settle()
    this.periods.judgeSplits()
    const sums = new Map<string, bigint>()
    const isArithmeticRight = this.findings.countOf('arithmetic') === 0
    for (const totals of this.postings.accounts()) {
      sums.set(totals.mint, (sums.get(totals.mint) ?? 0n) + totals.balanceBaseUnits)
      if (isArithmeticRight) this.#judgeLimits(totals)
    }
    for (const [mint, sum] of sums)
      if (sum !== 0n) this.#blame('ledger_unbalanced', this.position, `the accounts of ${mint} sum to ${sum}`)
  }

  /**
   * Compares the last balance with the limits of its account, because an append that exceeds a limit is refused. Called
   * only if no other finding explains the balance.
   */
  #judgeLimits({ account, balanceBaseUnits, uptoPosition: position }: AccountTotals): void {
    const { floor = null, ceiling = null } = classOf(account) ?? {}
    const isBelow = floor !== null && balanceBaseUnits < BigInt(floor)
    if (!isBelow && (ceiling === null || balanceBaseUnits <= BigInt(ceiling))) return
    const message = `the balance is ${balanceBaseUnits}, and its limit is ${isBelow ? floor : ceiling}`
    this.findings.add('account_differs', { position, subject: account, message })
  }

  #advance(
    { event, kind, judge }: ReadEvent,
    known: AuditedStream | string,
    { position, recordedAtMs, bytes, bodyStart, bodyEnd }: RawEvent,
  ): AuditedStream {
    const recorded = { position, recordedAtMs }
    const row = this.streams.enter(event, known, recorded)
    const blame = (code: FindingCode, message: string, subject = event.stream): void => {
      this.findings.add(code, { position, subject, message })
    }
    if (row.kind !== kind.kind) {
      blame('lifecycle_impossible', `${event.kind} in a stream that is a ${row.kind} already`)
      return row
    }
    this.streams.begin(event, row, { kind, place: recorded })
    const bodyDigest = (): string => hash('sha256', bytes.subarray(bodyStart, bodyEnd), 'hex')
    const { effectiveAt: effectiveAtBefore } = this.#before
    judge({ ...recorded, row, blame, ledger: this, bodyDigest, effectiveAtBefore })
    this.streams.end(row, kind)
    return row
  }

  /**
   * Handles an event of an unknown kind, or of a stream that began with one. In a stream of a known kind, the event is
   * reported. Otherwise its stored postings are entered without a check, because a newer release may have written
   * them.
   */
  #passOver({ event }: ReadEvent | UnknownEvent, row: AuditedStream | undefined, raw: RawEvent): void {
    const { position, recordedAtMs, columns } = raw
    this.streams.settle()
    if (row !== undefined && !row.kind.startsWith(unknownMark))
      return this.#blame('body_unreadable', position, `${event.kind} is not known in it`)
    const { firstPosition } = this.streams.enter(event, row ?? unknownMark + event.kind, raw)
    if (columns === undefined) return
    this.#enterStored(columns.postings, { position, recordedAtMs, effectiveAtMs: event.effectiveAt })
    this.records.compareColumns(event, columns, { position, firstPosition })
  }

  #enterStored({ debits, credits, amounts }: StoredPostings, place: PostingPlace): void {
    for (const [line, amountBaseUnits] of amounts.entries()) {
      const [debit, credit] = [debits[line], credits[line]]
      if (debit === undefined || credit === undefined)
        this.#blame('posting_differs', place.position, `posting ${line} names an account that has no row`)
      else this.postings.enter(debit.mint, place, [[debit.name, credit.name, amountBaseUnits]])
    }
  }

  #blame(code: FindingCode, position: number, message: string): void {
    this.findings.add(code, { position, subject: `position ${position}`, message })
  }
}

const noPostings: readonly EnteredPosting[] = []
