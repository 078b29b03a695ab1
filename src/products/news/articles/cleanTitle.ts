import { decodeHTMLStrict } from 'entities'

const titleCharactersMax = 300
const descriptionCharactersMax = 500
// Maximum length of a title or description with its markup. Only this part of a longer text, such as a whole article,
// is read.
const rawCharactersMax = 20_000
// Elements whose text is invisible to readers, and comments.
const unseen = /<(script|style|template)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)/gi
const tag = /<\/?[a-z!][^<>]*>/gi
// Invisible characters that can mislead a reader, such as direction marks and zero-width spaces.
const unwanted = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]/g

/** Returns a title as plain text. It may contain markup, entities, and markup that is written as entities. */
export function cleanTitle(raw: string): string {
  return cleanText(raw, { charactersMax: titleCharactersMax, stripTags: (text) => text.replace(tag, '') })
}

/** Returns a description as plain text. A space replaces each tag, because tags usually separate paragraphs. */
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
    // Allow 32 code units per visible character. Longer sequences are not text.
    .slice(0, charactersMax * 32)
  const characters = [...new Intl.Segmenter('en').segment(line)]
  const cut = characters[charactersMax]
  return cut === undefined ? line : `${line.slice(0, cut.index).trimEnd()}…`
}

// Repeat the removal, because removing a tag may form a new one: `<<b>script>`. After five passes, all angle brackets
// are removed.
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
