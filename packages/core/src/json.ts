/**
 * Undefined for text that is not JSON, so that a schema refuses it. The parser's error is dropped, because it quotes
 * the text.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
