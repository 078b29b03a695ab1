import { decodeHTMLStrict } from 'entities'

const titleCharactersMax = 300
const descriptionCharactersMax = 500
// The longest title or description that is read, markup included. Beyond it are whole articles.
const rawCharactersMax = 20_000
// Elements whose text no reader sees.
const unseen = /<(script|style|template)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)/gi
const tag = /<\/?[a-z!][^<>]*>/gi
// Invisible characters that can mislead a reader: marks of direction, zero-width spaces, soft hyphens. And the mark of an
// entity that is not a character.
const unwanted = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]/g

/** Plain text of a title that may contain markup, entities, and entities of markup. */
export function cleanTitle(raw: string): string {
  return cleanText(raw, { charactersMax: titleCharactersMax, stripTags: (text) => text.replace(tag, '') })
}

/** Plain text of a description. Its elements are paragraphs as a rule, so each tag ends a word. */
export function cleanDescription(raw: string): string {
  const stripTags = (text: string) => text.replace(unseen, ' ').replace(tag, ' ')
  return cleanText(raw, { charactersMax: descriptionCharactersMax, stripTags })
}

interface CleanForm {
  readonly charactersMax: number
  readonly stripTags: (text: string) => string
}

function cleanText(raw: string, { charactersMax, stripTags }: CleanForm): string {
  const strip = (text: string) => stripRepeatedly(text, stripTags)
  const line = strip(decodeHTMLStrict(strip(raw.slice(0, rawCharactersMax))))
    .toWellFormed()
    .replace(unwanted, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    // A character of a reader may have many code units, such as the 25 of a family; longer ones are not text.
    .slice(0, charactersMax * 32)
  const characters = [...new Intl.Segmenter('en').segment(line)]
  const cut = characters[charactersMax]
  return cut === undefined ? line : `${line.slice(0, cut.index).trimEnd()}…`
}

// Stripping a tag may leave another one: `<<b>script>`.
const passesMax = 5

function stripRepeatedly(text: string, stripTags: CleanForm['stripTags']): string {
  let clean = text
  for (let pass = 1; pass <= passesMax; pass++) {
    const next = stripTags(clean)
    if (next === clean) return clean
    clean = next
  }
  return clean.replace(/[<>]/g, '')
}
