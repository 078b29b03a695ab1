import { z } from 'zod'

export const amountText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?$/)
  .meta({ description: 'signed amount, such as +1.25' })
export const percentText = z
  .string()
  .regex(/^[+-]\d+(\.\d+)?%$/)
  .meta({ description: 'signed percentage, such as +2.50%' })

/** A value that rounds to zero becomes `+0.00`, never `-0.00`. */
export function signedText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `-${text}` : `+${text}`
}

export function signedPercent(value: number, decimals: number): string {
  return `${signedText(value, decimals)}%`
}
