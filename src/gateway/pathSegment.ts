import type { Json } from '@tollbook/core/canonicalJson'

/** True if the value is one segment of a path for every server, whatever it decodes. */
export function isSegment(value: Json | undefined): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value)
  return text !== '' && text.length <= 512 && text !== '.' && text !== '..' && !/[/\\%?#;\p{Cc}]/u.test(text)
}
