// A receipt has about 1,900 characters, a key 150.
const charactersMax = 16_384

/** Copies a value through JSON, so that what is checked is data, without getters, cycles or surprises. Undefined for anything else. */
export function plainData(value: unknown, lengthMax = charactersMax): unknown {
  try {
    const text = JSON.stringify(value)
    return text.length > lengthMax ? undefined : JSON.parse(text)
  } catch {
    // Cyclic, too deep, a bigint, a function, a getter that throws: neither a receipt nor a key is any of these.
    return undefined
  }
}
