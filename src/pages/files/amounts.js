/* Amounts arrive as base units in text. They are shown through BigInt, and become numbers only to be drawn. */

/** `1234567890` with 6 decimals is `1,234.56789`. */
export function tokensText(baseUnits, decimals) {
  const amount = BigInt(baseUnits)
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${amount < 0n ? '−' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

export function tokensNumber(baseUnits, decimals) {
  return Number(BigInt(baseUnits)) / 10 ** decimals
}

export function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** The style of a card fits the figure to its width. */
export function showFigure(element, text) {
  element.textContent = text
  element.style.setProperty('--characters', text.length)
}
