// A receipt has about 1,900 characters, a key 150.
const charactersMax = 16_384

/** Copies a value through JSON, so that the checks see data without getters or cycles. Undefined for anything else. */
export function plainData(value: unknown, lengthMax = charactersMax): unknown {
  try {
    const text = JSON.stringify(value)
    return text.length > lengthMax ? undefined : JSON.parse(text)
  } catch {
    // A cycle, a bigint, a function or a throwing getter is neither a receipt nor a key.
    return undefined
  }
}
