import { z } from 'zod'
import { runTollbook } from '../restore/tollbook.ts'
import type { Checks } from './pageLooks.ts'

// The seed has one token price for products of any amount, and no price list has it.
const invented: ReadonlySet<string> = new Set(['price_wrong', 'price_not_published'])
const auditReport = z.object({
  events: z.int(),
  durationMs: z.number(),
  verdicts: z.record(z.string(), z.object({ status: z.string() })),
  findings: z.array(z.object({ code: z.string(), subject: z.string(), message: z.string() })),
})

/** The audit replays the ledger, and finds nothing but the invented prices of its seed. */
export async function auditSeed(databaseUrl: string, check: Checks['check']): Promise<void> {
  const { output } = await runTollbook(['audit', '--json', '--database', databaseUrl], {})
  const report = auditReport.safeParse(parsed(output))
  if (!report.success) return check(false, `the audit cannot be read: ${output.slice(0, 300)}`)
  const { events, durationMs, verdicts, findings } = report.data
  const others = findings.filter(({ code }) => !invented.has(code))
  check(
    others.length === 0 && ['integrity', 'completeness'].every((aspect) => verdicts[aspect]?.status === 'holds'),
    `audit of ${events} events in ${Math.round(durationMs / 1000)} s: ${others.length} findings besides the prices of the seed ${others[0]?.message ?? ''}`,
  )
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output.slice(output.indexOf('{')))
  } catch {
    return undefined
  }
}
