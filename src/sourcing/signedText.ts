import { z } from 'zod'

/** The shapes of what `signedText` and `signedPercent` write, for documents and for checks. */
export const amountText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?$/)
  .meta({ description: 'signed amount, such as +1.25' })
export const percentText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?%$/)
  .meta({ description: 'signed percentage, such as +2.50%' })

/** `+1.25`, `-0.95`; a value that rounds to zero is `+0.00` and never `-0.00`. */
export function signedText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `-${text}` : `+${text}`
}

export function signedPercent(value: number, decimals: number): string {
  return `${signedText(value, decimals)}%`
}
