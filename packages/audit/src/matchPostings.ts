import type { AccountRow, StoredPostings } from './rawEvent.ts'
import type { Findings } from './findings.ts'
import type { AccountTotals, EnteredPosting } from './postingReplay.ts'

/*
 * Compares the postings in an event's row with the postings that follow from its body. Rows name accounts by number, so
 * the name and mint of the account are compared. If someone renames an account, the events that use it differ.
 */

interface PostingPlace {
  readonly position: number
  readonly findings: Findings
}

export function matchPostings(stored: StoredPostings, derived: readonly EnteredPosting[], place: PostingPlace): void {
  const { debits, credits, amounts } = stored
  const count = Math.max(debits.length, credits.length, amounts.length)
  if (count === 0 && derived.length === 0) return
  for (let line = 0; line < Math.max(count, derived.length); line++) {
    const right = derived[line]
    const [debit, credit, amountBaseUnits] = [debits[line], credits[line], amounts[line]]
    const isRight =
      right !== undefined &&
      amountBaseUnits === right.amountBaseUnits &&
      isAccount(debit, right.debit) &&
      isAccount(credit, right.credit)
    if (!isRight) blame(place, line, { found: line < count ? { debit, credit, amountBaseUnits } : undefined, right })
  }
}

function isAccount(row: AccountRow | undefined, totals: AccountTotals): boolean {
  return row !== undefined && row.name === totals.account && row.mint === totals.mint
}

interface Pair {
  readonly found: StoredPosting | undefined
  readonly right: EnteredPosting | undefined
}

interface StoredPosting {
  readonly debit: AccountRow | undefined
  readonly credit: AccountRow | undefined
  readonly amountBaseUnits: bigint | undefined
}

function blame({ position, findings }: PostingPlace, line: number, { found, right }: Pair): void {
  const code = right === undefined ? 'posting_unexpected' : found === undefined ? 'posting_missing' : 'posting_differs'
  const said =
    found === undefined ? 'nothing' : `${nameOf(found.debit)} > ${nameOf(found.credit)} ${found.amountBaseUnits ?? '?'}`
  const meant =
    right === undefined ? 'nothing' : `${right.debit.account} > ${right.credit.account} ${right.amountBaseUnits}`
  const message = `${said} is posted, and the event says ${meant}`
  findings.add(code, { position, subject: `posting ${position}.${line}`, message })
}

function nameOf(row: AccountRow | undefined): string {
  return row === undefined ? '?' : row.name
}
