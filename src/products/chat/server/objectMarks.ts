/* A reply that is a JSON object: a tag in one of its strings is data. */

export interface ObjectMarks {
  /** The length of the text up to the end of the object, or up to a mark outside of its strings. */
  read(text: string, marks: string): { readonly length: number; readonly hasEnded: boolean }
}

/** Follows an object from its first brace. Text that is not JSON ends like an object, or at the end of the reply. */
export function createObjectMarks(): ObjectMarks {
  let depth = 0
  let isString = false
  let isEscaped = false
  const step = (character: string) => {
    if (isEscaped) isEscaped = false
    else if (isString && character === '\\') isEscaped = true
    // No string of JSON has a line break.
    else if (character === '"' || (isString && character === '\n')) isString = !isString
    else if (!isString && character === '{') depth++
    else if (!isString && character === '}') depth--
  }
  return {
    read(text, marks) {
      for (let at = 0; at < text.length; at++) {
        const character = text.charAt(at)
        if (!isString && marks.includes(character)) return { length: at, hasEnded: false }
        step(character)
        if (depth === 0) return { length: at + 1, hasEnded: true }
      }
      return { length: text.length, hasEnded: false }
    },
  }
}
