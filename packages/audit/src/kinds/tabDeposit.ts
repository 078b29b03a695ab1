import { z } from 'zod'
import { baseUnits } from '../body.ts'
import { bodyOf, type EventEntry, eventOf, type Judged } from './auditedKind.ts'
import { depositsOf, noteDeposit, tabId, tabIdOfDeposit, tabsOf } from './tabs.ts'

/* Events of a deposit on a tab, in the stream of its payment: opening or top-up of the tab, and reversal. */

const deposit = { tab: tabId, mint: z.string(), wallet: z.string(), depositBaseUnits: baseUnits }
const opened = bodyOf('TabOpened', {
  ...deposit,
  terms: z.strictObject({
    sessionKey: z.string().nullable(),
    bearerHash: z.string().nullable(),
    maxPerRequestBaseUnits: baseUnits,
    maxPerDayBaseUnits: baseUnits.nullable(),
    endsAtMs: z.int(),
  }),
})
const toppedUp = bodyOf('TabToppedUp', deposit)
const reversed = bodyOf('DepositReversed', {
  tab: z.string(),
  mint: z.string(),
  takenBackBaseUnits: baseUnits,
  spentBaseUnits: baseUnits,
})

const unearned = 'Liabilities:Unearned'
export const prepaidOn = (tab: string): string => `Liabilities:Prepaid:${tab}`

type Deposit = z.output<typeof toppedUp> | z.output<typeof opened>

const postings = ({ tab, depositBaseUnits }: Deposit) => [[unearned, prepaidOn(tab), depositBaseUnits] as const]

export const depositEvents: readonly EventEntry[] = [
  eventOf(opened, {
    postings,
    judge(event, at) {
      judgeDeposit(event, at)
      const { tab, wallet, mint, terms, stream } = event
      if (tab !== tabIdOfDeposit(stream)) at.blame('owner_differs', 'the tab has the id of another deposit')
      const { verifiedSlot: slot, blockTimeMs } = at.row
      const facts = { ...terms, wallet, mint, deposit: stream, slot, blockTimeMs }
      const charges = { chargedByDay: new Map<number, bigint>(), returnedLaterBaseUnits: 0n }
      tabsOf(at.ledger.state).set(tab, { ...facts, ...charges, lifecycle: 0, isClosed: false, lostBaseUnits: 0n })
    },
  }),
  eventOf(toppedUp, {
    postings,
    judge(event, at) {
      judgeDeposit(event, at)
      const tab = tabsOf(at.ledger.state).get(event.tab)
      if (tab === undefined) at.blame('lifecycle_impossible', 'no deposit opened the tab')
      else if (tab.wallet !== event.wallet || tab.mint !== event.mint)
        at.blame('owner_differs', 'the tab is of another wallet')
    },
  }),
  eventOf(reversed, {
    postings: ({ tab, takenBackBaseUnits }) => [[prepaidOn(tab), 'Expenses:ReversedPayments', takenBackBaseUnits]],
    judge({ tab: id, stream, takenBackBaseUnits, spentBaseUnits, mint }, { row, blame, ledger }) {
      if (depositsOf(ledger.state).get(stream)?.tab !== id) blame('owner_differs', 'the deposit is on another tab')
      const tab = tabsOf(ledger.state).get(id)
      if (tab === undefined || !tab.isClosed) blame('lifecycle_impossible', 'the tab is not closed')
      else tab.lostBaseUnits += spentBaseUnits
      if (mint !== row.mint) blame('owner_differs', 'another mint was paid')
      if (takenBackBaseUnits + spentBaseUnits !== row.requiredBaseUnits)
        blame('reversal_differs', `${takenBackBaseUnits} and ${spentBaseUnits} are not the deposit`)
    },
  }),
]

function judgeDeposit(event: Deposit, { row, blame, ledger, position }: Judged): void {
  const { tab, stream, wallet, mint, depositBaseUnits } = event
  noteDeposit(ledger.state, stream, { tab, position })
  if (wallet !== row.wallet || mint !== row.mint) blame('owner_differs', 'another wallet had paid')
  if (depositBaseUnits !== row.requiredBaseUnits) blame('distribution_differs', 'another amount was paid')
}
