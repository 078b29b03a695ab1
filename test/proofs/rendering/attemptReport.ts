import { z } from 'zod'

/** The log line of one attempt to render a page. */
export const attemptLine = z.object({
  payer: z.string(),
  payment: z.string(),
  outcome: z.string(),
  failure: z.string().optional(),
  course: z.string(),
  paymentTimeMs: z.number(),
})
export type AttemptLine = z.infer<typeof attemptLine>

/** Reason of each failure, with the stages of the attempt and their milliseconds. */
export function describeFailures(attempts: readonly AttemptLine[]): readonly string[] {
  return attempts.flatMap(({ failure, course }) => (failure === undefined ? [] : [`${failure}, after ${course}`]))
}

/** Last stages of attempts and their failures, the most frequent first. */
export function tallyAttempts(attempts: readonly AttemptLine[]): readonly string[] {
  const groups = Map.groupBy(attempts, ({ failure = 'rendered', course }) => `${lastStage(course)}: ${failure}`)
  return [...groups]
    .toSorted(([, some], [, others]) => others.length - some.length)
    .map(([what, some]) => `${some.length} × ${what}`)
}

/** Seconds of a stage in all attempts: the median and the longest. */
export function stageSeconds(attempts: readonly AttemptLine[], stage: string): string {
  const found = attempts.flatMap(({ course }) => Number(new RegExp(`\\b${stage} (\\d+)`).exec(course)?.[1] ?? []))
  const sorted = found.toSorted((one, other) => one - other)
  const seconds = (ms = 0): string => (ms / 1000).toFixed(1)
  return `${stage} ${seconds(sorted[Math.floor(sorted.length / 2)])} s, longest ${seconds(sorted.at(-1))} s`
}

function lastStage(course: string): string {
  // `closing` follows every end.
  const stages = course.split(', ').map((entry) => entry.split(' ', 1).join())
  return stages.findLast((stage) => stage !== 'closing') ?? course
}
