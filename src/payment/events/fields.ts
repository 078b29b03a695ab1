import { z } from 'zod'
import { parseBaseUnits } from '@tollbook/core/money'
import { readAddress } from '@tollbook/core/address'
import { readReference } from '../paymentReference.ts'
import type { Price } from '@tollbook/core/quote'
import { readSignature } from '@tollbook/core/signature'

/* Base units are decimal strings, because JSON numbers are exact only up to 2^53. */

export const baseUnits = z.string().transform(parseBaseUnits)

export const bigInteger = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt)

export const optionalText = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined)

export const address = parsed(readAddress, 'not an address')
export const optionalAddress = address.nullable().transform((wallet) => wallet ?? undefined)
export const signature = parsed(readSignature, 'not a signature')
export const reference = parsed(readReference, 'not a payment reference')

function parsed<T>(read: (text: string) => T | undefined, problem: string) {
  return z.string().transform((text, context): T => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue(problem)
    return z.NEVER
  })
}

const share = z.object({ account: z.string(), baseUnits })
export const shares = z.array(share).readonly()

export const price: z.ZodType<Price> = z.object({
  endpoint: z.string(),
  priceMicroUsd: bigInteger,
  tokenPriceAttoUsd: bigInteger,
  mint: address,
  decimals: z.int().min(0).max(18),
  requiredBaseUnits: baseUnits,
  burnBaseUnits: baseUnits,
  shares,
  /** Burn in the service token that a price in dollars promises, because dollars cannot be burned. */
  tokenBurn: z.object({ mint: address, baseUnits }).exactOptional(),
})

export const attempt = z.int().min(1)
export const attemptId = z.string()
