/* Amounts arrive as base units in text. They are formatted through BigInt, and converted to numbers only for charts. */

/** Formats an amount: `1234567890` with 6 decimals becomes `1,234.56789`. */
export function tokensText(baseUnits: string, decimals: number): string {
  const amountBaseUnits = BigInt(baseUnits)
  const isNegative = amountBaseUnits < 0n
  const digits = (isNegative ? -amountBaseUnits : amountBaseUnits).toString().padStart(decimals + 1, '0')
  const whole = countText(digits.slice(0, digits.length - decimals))
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${isNegative ? '−' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

export function tokensNumber(baseUnits: string, decimals: number): number {
  return Number(BigInt(baseUnits)) / 10 ** decimals
}

export function countText(count: number | string): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** Formats a time: `2026-11-21T12:00:00.000Z` becomes `2026-11-21 12:00:00`. */
export function timeText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}
