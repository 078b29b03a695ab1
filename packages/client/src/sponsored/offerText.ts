import { z } from 'zod'
import { readAddress } from '@tollbook/core/address'

/** Maximum length of a header with an offer. Node limits all headers together to 16 kB. */
export const headerCharactersMax = 16_384

export const addressText = z.string().transform((text, context) => {
  const address = readAddress(text)
  if (address !== undefined) return address
  context.addIssue('it is not an address')
  return z.NEVER
})

/** A positive unsigned 64-bit integer, as both token programs store amounts. */
export const amountText = z
  .string()
  .regex(/^[1-9]\d{0,19}$/)
  .transform(BigInt)
  .refine((amountBaseUnits) => amountBaseUnits < 2n ** 64n)
