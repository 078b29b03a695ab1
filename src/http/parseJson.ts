export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 JSON without duplicate keys: with two, programs disagree about which one counts. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return hasDuplicateKey(text)
      ? { ok: false, message: 'must not name a key twice in one object' }
      : { ok: true, value }
  } catch {
    // Neither the decoder's nor the parser's message helps a caller more than this one.
    return { ok: false, message: 'must be valid JSON in UTF-8' }
  }
}

/** Walks text that JSON.parse has accepted, so only strings and brackets need to be told apart. No recursion. */
function hasDuplicateKey(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      const keys = open.at(-1)
      if (keys !== undefined && isKey(text, end)) {
        const key: unknown = JSON.parse(text.slice(at, end))
        if (typeof key === 'string' && keys.size === keys.add(key).size) return true
      }
      at = end
      continue
    }
    if (character === '{') open.push(new Set())
    if (character === '[') open.push(undefined)
    if (character === '}' || character === ']') open.pop()
    at++
  }
  return false
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function isKey(text: string, end: number): boolean {
  let at = end
  while (/\s/.test(text[at] ?? '')) at++
  return text[at] === ':'
}
