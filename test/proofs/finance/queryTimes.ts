import { z } from 'zod'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { say } from '../verdict.ts'
import type { FinanceService } from './financeService.ts'
import type { Checks } from './pageLooks.ts'

const asks = 20
const slowMs = 300
const dayMs = 86_400_000
// From the middle of a list: a cursor costs the same on each page.
const turnedPages = 10

/** Times each question of the finance page, from the request to the whole answer. */
export async function timeQueries(service: FinanceService, check: Checks['check']): Promise<void> {
  for (const [name, path] of Object.entries(await questionsFor(service))) {
    const times: number[] = []
    for (let nth = 0; nth < asks; nth++) {
      const startedAtMs = systemClock.monotonicMs()
      const response = await service.ask(path)
      await response.text()
      times.push(systemClock.monotonicMs() - startedAtMs)
      if (!response.ok) say(`       ${path}: ${response.status}`)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const [p50, p95] = [0.5, 0.95].map((share) => sorted[Math.floor(sorted.length * share)] ?? 0)
    check((p50 ?? 0) <= slowMs, `${name}: p50 ${p50?.toFixed(1)} ms, p95 ${p95?.toFixed(1)} ms over HTTP`)
  }
}

async function questionsFor(service: FinanceService): Promise<Readonly<Record<string, string>>> {
  const nowMs = systemClock.nowMs()
  const from = isoTime(nowMs - 29 * dayMs).slice(0, 10)
  const [thisMonth, lastMonth] = [nowMs, nowMs - 31 * dayMs].map((ms) => isoTime(ms).slice(0, 7))
  const { wallet, cursor } = await middleOfPayments(service)
  return {
    summary: 'summary',
    'burns of 30 days': `burns?from=${from}&by=day`,
    'burns of all days by endpoint': 'burns?by=endpoint',
    'burns of a month by wallet': `burns?month=${lastMonth}&by=wallet&limit=50`,
    'distributions of 30 days': `distributions?from=${from}&by=day`,
    'distributions of 30 days by endpoint': `distributions?from=${from}&by=endpoint`,
    'payments, first page': 'payments?limit=50',
    'payments of a month': `payments?month=${lastMonth}&limit=50`,
    [`payments, page ${turnedPages + 1}`]: `payments?limit=50&cursor=${cursor}`,
    'payments that are reversed': 'payments?limit=50&state=reversed',
    'payments that are delivered': 'payments?limit=50&state=fulfilled',
    'payments of a wallet': `payments?limit=50&wallet=${wallet}`,
    'payments of an endpoint': `payments?limit=50&endpoint=${encodeURIComponent('/api/ai/chat')}`,
    'payments of a wallet and a state': `payments?limit=50&wallet=${wallet}&state=reversed`,
    'refunds, first page': 'refunds?limit=50',
    'refunds that are due': 'refunds?limit=50&refund=due',
    'refunds of a wallet': `refunds?limit=50&wallet=${wallet}`,
    payouts: 'payouts?limit=50',
    liabilities: 'liabilities?limit=50',
    'trial balance of a month': `trial-balance?month=${lastMonth}`,
    'closing statement of last month': `closing?month=${lastMonth}`,
    'closing statement of this month': `closing?month=${thisMonth}`,
    'one payment': `payments/${service.signature}`,
    'explanation of one payment': `explain/${service.signature}`,
  }
}

const page = z.object({ rows: z.array(z.object({ wallet: z.string() })), next: z.string().nullable() })

async function middleOfPayments({ dataOf }: FinanceService): Promise<{ wallet: string; cursor: string }> {
  let cursor = ''
  let wallet = ''
  for (let turned = 0; turned < turnedPages; turned++) {
    const { rows, next } = await dataOf(`payments?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`, page)
    wallet = rows[0]?.wallet ?? wallet
    cursor = next ?? cursor
  }
  return { wallet, cursor }
}
