import { z } from 'zod'

/** Number of checks of one property, and its failures. Go's findings have the same form. */
export const finding = z.object({
  what: z.string(),
  checked: z.int(),
  failed: z
    .array(z.string())
    .nullable()
    .transform((failed) => failed ?? []),
})

export type Finding = z.infer<typeof finding>

/** One per case; a case returns undefined if it holds, and otherwise a description of the failure. */
export function look<T>(what: string, cases: Iterable<T>, judge: (one: T) => string | undefined): Finding {
  const failed: string[] = []
  let checked = 0
  for (const one of cases) {
    checked++
    const problem = judge(one)
    if (problem !== undefined) failed.push(problem)
  }
  return { what, checked, failed }
}
