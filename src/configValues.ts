import { z } from 'zod'

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
