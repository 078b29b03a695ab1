import { z } from 'zod'

/** The log line of one attempt to render a page. */
export const attemptLine = z.object({
  payer: z.string(),
  payment: z.string(),
  outcome: z.string(),
  failure: z.string().optional(),
  paymentTimeMs: z.number(),
})
export type AttemptLine = z.infer<typeof attemptLine>

/** Outcomes of attempts, the most frequent first. */
export function tallyAttempts(attempts: readonly AttemptLine[]): readonly string[] {
  const groups = Map.groupBy(attempts, ({ failure = 'rendered' }) => failure)
  return [...groups]
    .toSorted(([, some], [, others]) => others.length - some.length)
    .map(([what, some]) => `${some.length} × ${what}`)
}
