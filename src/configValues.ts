import { z } from 'zod'
import type { Parsed } from './pricing/settingList.ts'

/** A whole number in the environment, within its limits. */
export function whole(min: number, max: number, standard: number) {
  const expected = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,10}$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .default(standard)
}

/** A setting with a parser of its own, which names every mistake. */
export function parsedBy<T>(parse: (text: string) => Parsed<T>, standard: T) {
  return z
    .string()
    .optional()
    .transform((text, context): T => {
      if (text === undefined) return standard
      const parsed = parse(text)
      if (parsed.ok) return parsed.value
      for (const problem of parsed.problems) context.addIssue(problem)
      return z.NEVER
    })
}
