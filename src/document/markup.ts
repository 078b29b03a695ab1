import type { Json } from '@tollbook/core/canonicalJson'

/** HTML text. Create it only with `html`, `jsonScript` or `markdown`, which escape every value. */
export interface Markup {
  readonly markup: string
}

type Value = Markup | string | number | readonly Markup[]

/** Creates HTML from a template. Values are escaped for content and for quoted attributes. */
export function html(texts: readonly string[], ...values: readonly Value[]): Markup {
  return { markup: texts.map((text, place) => text + shown(values[place] ?? '')).join('') }
}

function shown(value: Value): string {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** Creates JSON for the content of a `script` element. Every `<` is escaped, so that no text can close the element. */
export function jsonScript(value: Json): Markup {
  return { markup: JSON.stringify(value).replaceAll('<', String.raw`\u003c`) }
}
