import { z } from 'zod'

/** How often one thing was looked at, and where it did not hold. Go's findings have the same form. */
export const finding = z.object({
  what: z.string(),
  checked: z.int(),
  failed: z
    .array(z.string())
    .nullable()
    .transform((failed) => failed ?? []),
})

export type Finding = z.infer<typeof finding>

/** One for each case; a case gives undefined where it holds, and otherwise says what is wrong. */
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
