/** `+1.25`, `-0.95`; what rounds to nothing is `+0.00` and never `-0.00`. */
export function signedText(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals)
  return value < 0 && Number(text) !== 0 ? `-${text}` : `+${text}`
}

export function signedPercent(value: number, decimals: number): string {
  return `${signedText(value, decimals)}%`
}
