import { z } from 'zod'

/** Schemas of the texts that `signedText` and `signedPercent` return, for the documents and for checks of answers. */
export const amountText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?$/)
  .meta({ description: 'signed amount, such as +1.25' })
export const percentText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?%$/)
  .meta({ description: 'signed percentage, such as +2.50%' })

/**
 * Formats a number with its sign, such as `+1.25` or `-0.95`. A value that rounds to zero becomes `+0.00`, never
 * `-0.00`.
 */
export function signedText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `-${text}` : `+${text}`
}

export function signedPercent(value: number, decimals: number): string {
  return `${signedText(value, decimals)}%`
}
