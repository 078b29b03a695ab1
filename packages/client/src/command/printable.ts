import type { OutputStream } from './commandDeps.ts'

// Control characters except line breaks and tabs, and characters that change the direction of text.
const unprintable = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Shows unprintable characters as escapes: a service could hide lines with them, such as the verdict of a receipt. */
export function printable(stream: OutputStream): OutputStream {
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  return { isTTY: stream.isTTY === true, write: (text) => stream.write(text.replace(unprintable, escaped)) }
}
