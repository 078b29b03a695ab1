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

export interface TimedServices {
  readonly long: FinanceService
  readonly short: FinanceService
}

interface Times {
  readonly p50: number
  readonly p95: number
}

/**
 * Times each question of the finance page and the burn page on both ledgers, from the request to the whole answer. They
 * take turns, so that a busy moment of the machine is one of both.
 */
export async function timeQueries(services: TimedServices, check: Checks['check']): Promise<void> {
  const [long, short] = [await questionsFor(services.long), await questionsFor(services.short)]
  for (const [name, path] of Object.entries(long)) {
    const times = { long: new Array<number>(), short: new Array<number>() }
    for (let nth = 0; nth < asks; nth++) {
      times.long.push(await askedMs(services.long, path))
      times.short.push(await askedMs(services.short, short[name] ?? path))
    }
    const [ofLong, ofShort] = [timesOf(times.long), timesOf(times.short)]
    const ratios = `${(ofLong.p50 / ofShort.p50).toFixed(2)} and ${(ofLong.p95 / ofShort.p95).toFixed(2)}`
    check(
      ofLong.p50 <= slowMs,
      `${name}: p50 and p95 ÷ those of the short ledger: ${ratios} (${ofLong.p50.toFixed(0)} and ${ofLong.p95.toFixed(0)} ms)`,
    )
  }
}

async function askedMs(service: FinanceService, path: string): Promise<number> {
  const startedAtMs = systemClock.monotonicMs()
  const response = await (path.startsWith('/') ? fetch(`${service.baseUrl}${path}`) : service.ask(path))
  await response.text()
  if (!response.ok) say(`       ${path}: ${response.status}`)
  return systemClock.monotonicMs() - startedAtMs
}

function timesOf(values: readonly number[]): Times {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p50: at(0.5), p95: at(0.95) }
}

async function questionsFor(service: FinanceService): Promise<Readonly<Record<string, string>>> {
  const nowMs = systemClock.nowMs()
  const from = isoTime(nowMs - 29 * dayMs).slice(0, 10)
  const [thisMonth, lastMonth] = [nowMs, nowMs - 31 * dayMs].map((ms) => isoTime(ms).slice(0, 7))
  const { wallet, cursor, reference, day } = await middleOfPayments(service)
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
    'an old payment': `payments/${reference}`,
    'explanation of an old payment': `explain/${reference}`,
    'explanation of a receipt': `explain/${service.receiptId}`,
    'payments of a day': `payments?from=${day}&to=${day}&limit=50`,
    'payments of a wallet on a day': `payments?from=${day}&to=${day}&wallet=${wallet}&limit=50`,
    'payments of an endpoint and a state': `payments?limit=50&endpoint=${encodeURIComponent('/api/ai/chat')}&state=reversed`,
    'payments of a wallet and an endpoint': `payments?limit=50&wallet=${wallet}&endpoint=${encodeURIComponent('/api/ai/chat')}`,
    'payments of a wallet without any': `payments?limit=50&wallet=${'1'.repeat(32)}`,
    'refunds, an old page': `refunds?limit=50&to=${from}`,
    'burn statistics': '/api/token/burn-stats',
  }
}

const page = z.object({
  rows: z.array(z.object({ wallet: z.string(), reference: z.string(), paidAt: z.string() })),
  next: z.string().nullable(),
})

interface Middle {
  readonly wallet: string
  readonly cursor: string
  readonly reference: string
  readonly day: string
}

async function middleOfPayments({ dataOf }: FinanceService): Promise<Middle> {
  let found: Middle = { wallet: '', cursor: '', reference: '', day: '' }
  for (let turned = 0; turned < turnedPages; turned++) {
    const { rows, next } = await dataOf(
      `payments?limit=50${found.cursor === '' ? '' : `&cursor=${found.cursor}`}`,
      page,
    )
    const [first] = rows
    if (first === undefined || next === null) return found
    const { wallet, reference, paidAt } = first
    found = { wallet, reference, day: paidAt.slice(0, 10), cursor: next }
  }
  return found
}
