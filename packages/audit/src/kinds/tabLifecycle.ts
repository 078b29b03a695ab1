import { z } from 'zod'
import { baseUnits } from '../body.ts'
import { base58 } from '@scure/base'
import { declareStep } from '../declaredKind.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { prepaidOn } from './tabDeposit.ts'
import { type AuditedTab, tabsOf } from './tabs.ts'

/* Stream kind for the lifecycle of a tab: new keys, closing, and then amounts that are owed or taken back. */

const keyReplaced = bodyOf('TabKeyReplaced', {
  tab: z.string(),
  sessionKey: z.string().nullable(),
  bearerHash: z.string().nullable(),
})
const rest = { tab: z.string(), mint: z.string(), wallet: z.string(), restBaseUnits: baseUnits }
const closed = bodyOf('TabClosed', { ...rest, by: z.enum(['wallet', 'session_key', 'end', 'reversal']) })
const restOwed = bodyOf('TabRestOwed', rest)
const takenBack = bodyOf('TabTakenBack', { tab: z.string(), mint: z.string(), takenBackBaseUnits: baseUnits })

type Rest = z.output<typeof closed> | z.output<typeof restOwed>

const postings = ({ tab, wallet, restBaseUnits }: Rest) =>
  [[prepaidOn(tab), `Liabilities:RefundsDue:${wallet}`, restBaseUnits]] as const

const owed = { moves: ['prepaid>refund'] }

export const tabLifecycle: AuditedKind = {
  kind: 'tab_lifecycle',
  space: 6,
  idBytes: 16,
  idPrefix: '',
  isSetting: false,
  nameOf: (key) => `tab:${base58.encode(key)}`,
  steps: [
    ...['', 'open'].flatMap((from) => [
      declareStep({ step: 'tab_lifecycle.replace_key', from, to: 'open', events: ['TabKeyReplaced'] }),
      declareStep({ step: 'tab_lifecycle.close', from, to: 'closed', events: ['TabClosed'], ...owed }),
    ]),
    declareStep({ step: 'tab_lifecycle.return', from: 'closed', to: 'closed', events: ['TabRestOwed'], ...owed }),
    declareStep({
      step: 'tab_lifecycle.take_back',
      from: 'closed',
      to: 'closed',
      events: ['TabTakenBack'],
      moves: ['prepaid>lost'],
    }),
  ],
  events: new Map([
    eventOf(keyReplaced, {
      judge(event, at) {
        const tab = enter(event, at)
        if (tab === undefined) return
        tab.sessionKey = event.sessionKey
        tab.bearerHash = event.bearerHash
      },
    }),
    eventOf(closed, {
      postings,
      judge(event, at) {
        const tab = enterRest(event, at)
        if (tab === undefined) return
        if (event.by === 'end' && event.effectiveAt < tab.endsAtMs)
          at.blame('lifecycle_impossible', 'the tab was closed before its end')
        tab.isClosed = true
      },
    }),
    eventOf(restOwed, { postings, judge: enterRest }),
    eventOf(takenBack, {
      postings: ({ tab, takenBackBaseUnits }) => [[prepaidOn(tab), 'Expenses:ReversedPayments', takenBackBaseUnits]],
      judge(event, at) {
        const tab = enter(event, at)
        if (tab === undefined) return
        if (tab.mint !== event.mint) at.blame('owner_differs', 'another mint was deposited')
        if (event.takenBackBaseUnits > tab.lostBaseUnits)
          at.blame('reversal_differs', `${event.takenBackBaseUnits} are taken back of a loss of ${tab.lostBaseUnits}`)
        tab.lostBaseUnits -= event.takenBackBaseUnits
      },
    }),
  ]),
}

interface OfTab {
  readonly stream: string
  readonly tab: string
}

/**
 * Counts a lifecycle event of the tab, because each debit states the number of these events. Reports a finding and
 * returns undefined if no deposit opened the tab.
 */
function enter({ stream, tab: id }: OfTab, { blame, ledger }: Judged): AuditedTab | undefined {
  if (stream !== `tab:${id}`) blame('owner_differs', 'the event is in the stream of another tab')
  const tab = tabsOf(ledger.state).get(id)
  if (tab === undefined) blame('lifecycle_impossible', 'no deposit opened the tab')
  else tab.lifecycle++
  return tab
}

function enterRest(event: Rest, at: Judged): AuditedTab | undefined {
  const tab = enter(event, at)
  if (tab !== undefined && (tab.wallet !== event.wallet || tab.mint !== event.mint))
    at.blame('owner_differs', 'the rest is owed to another wallet than the one that paid')
  if (tab !== undefined && tab.lostBaseUnits > 0n && event.restBaseUnits > 0n)
    at.blame('refund_differs', `a rest is owed before a loss of ${tab.lostBaseUnits} is covered`)
  return tab
}
