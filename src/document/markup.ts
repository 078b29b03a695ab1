import type { Json } from '@tollbook/core/canonicalJson'

/** HTML text. Only `html` and `jsonScript` make it, so that every value in it was escaped. */
export interface Markup {
  readonly markup: string
}

type Value = Markup | string | number | readonly Markup[]

/** A template of HTML. Texts are escaped, for content and for quoted attributes alike. */
export function html(texts: readonly string[], ...values: readonly Value[]): Markup {
  return { markup: texts.map((text, place) => text + shown(values[place] ?? '')).join('') }
}

function shown(value: Value): string {
  if (typeof value === 'string') return escape(value)
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

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** JSON as the content of a `script` element: no text in it can end the element. */
export function jsonScript(value: Json): Markup {
  return { markup: JSON.stringify(value).replaceAll('<', String.raw`\u003c`) }
}
