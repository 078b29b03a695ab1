// Default limit of `plainData`, several times the length of a receipt.
const charactersMax = 16_384

/**
 * Copies a value through JSON, so that the checks get data without getters or cycles. Undefined if that fails or the
 * JSON is too long.
 */
export function plainData(value: unknown, lengthMax = charactersMax): unknown {
  try {
    const text = JSON.stringify(value)
    return text.length > lengthMax ? undefined : JSON.parse(text)
  } catch {
    // A value with a cycle, a bigint or a throwing getter is neither a receipt nor a key.
    return undefined
  }
}
