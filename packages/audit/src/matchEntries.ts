import type { CopyBlock } from './copyOut.ts'
import { CopyRow } from './copyRow.ts'
import type { Findings } from './findings.ts'
import type { DerivedEntry } from './journal.ts'

export const entriesQuery = (afterPosition: number): string =>
  `select seq, line, account, mint, amount from ledger.entries where seq > ${afterPosition} order by seq, line`

interface EntryRow {
  readonly position: number
  readonly line: number
  readonly account: string
  readonly mint: string
  readonly amount: bigint
}

/** Walks the ledger's entries beside those that were derived from the events, one for one. */
export class EntriesMatch {
  readonly #blocks: AsyncGenerator<CopyBlock>
  readonly #findings: Findings
  readonly #reader = new CopyRow()
  #block: CopyBlock | undefined
  #index = 0
  #row: EntryRow | undefined
  #isEnd = false

  constructor(blocks: AsyncGenerator<CopyBlock>, findings: Findings) {
    this.#blocks = blocks
    this.#findings = findings
  }

  /** `derived` are all entries up to the position, since the last call. */
  async match(derived: readonly DerivedEntry[], uptoPosition: number): Promise<void> {
    let done = 0
    for (;;) {
      done = this.#matchRows(derived, done, uptoPosition)
      // Either all is matched and the next row belongs to later events, or another block of rows is needed.
      if (this.#row !== undefined || this.#isEnd) return
      const next = await this.#blocks.next()
      this.#isEnd = next.done === true
      this.#block = next.done === true ? undefined : next.value
      this.#index = 0
      this.#advance()
    }
  }

  #matchRows(derived: readonly DerivedEntry[], from: number, uptoPosition: number): number {
    let index = from
    while (this.#row !== undefined || this.#isEnd) {
      const entry = derived[index]
      const order = this.#row === undefined ? 1 : compareKeys(this.#row, entry)
      if (entry === undefined && (this.#row === undefined || this.#row.position > uptoPosition)) return index
      if (order > 0 && entry !== undefined) this.#miss(entry)
      else if (order === 0 && entry !== undefined && this.#row !== undefined) this.#compare(this.#row, entry)
      else if (this.#row !== undefined) this.#wonder(this.#row)
      if (order >= 0) index++
      if (order <= 0) this.#advance()
    }
    return index
  }

  #advance(): void {
    const block = this.#block
    if (block === undefined || this.#index >= block.count) {
      this.#row = undefined
      return
    }
    const reader = this.#reader
    reader.open(block.bytes, block.starts[this.#index++] ?? 0)
    this.#row = {
      position: reader.int64(),
      line: reader.int16(),
      account: reader.latin1(),
      mint: reader.latin1(),
      amount: reader.numeric(),
    }
  }

  #compare(row: EntryRow, { totals, amount }: DerivedEntry): void {
    if (row.account === totals.account && row.mint === totals.mint && row.amount === amount) return
    const message = `${describeSide(row)} stands where the event says ${describeSide({ ...totals, amount })}`
    this.#findings.add('entry_differs', { ...placeOf(row), message })
  }

  #miss({ position, line, totals, amount }: DerivedEntry): void {
    const message = `the event says ${describeSide({ ...totals, amount })}, and there is no such entry`
    this.#findings.add('entry_missing', { ...placeOf({ position, line }), message })
  }

  #wonder(row: EntryRow): void {
    const message = `${describeSide(row)} follows from no event`
    this.#findings.add('entry_unexpected', { ...placeOf(row), message })
  }
}

function compareKeys(row: EntryRow, entry: DerivedEntry | undefined): number {
  if (entry === undefined) return -1
  return row.position - entry.position || row.line - entry.line
}

function placeOf({ position, line }: { readonly position: number; readonly line: number }) {
  return { position, subject: `entry ${position}.${line}` }
}

function describeSide({ account, amount }: { readonly account: string; readonly amount: bigint }): string {
  return `${account} ${amount}`
}
