const titleCharactersMax = 300
const descriptionCharactersMax = 500
// The longest title or description that is read, markup included. Beyond it are whole articles.
const rawCharactersMax = 20_000
// Elements whose text no reader sees.
const unseen = /<(script|style|template)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)/gi
const tag = /<\/?[a-z!][^<>]*>/gi
const entity = /&(#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,7});/gi
// Invisible characters that can mislead a reader: marks of direction, zero-width spaces, soft hyphens.
const invisible = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g

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
  const line = strip(decodeEntities(strip(raw.slice(0, rawCharactersMax))))
    .toWellFormed()
    .replace(invisible, '')
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

function decodeEntities(text: string): string {
  return text.replace(entity, (whole, name: string) => {
    if (!name.startsWith('#')) return entityNames.get(name) ?? whole
    const code = Number(name.replace(/^#x/i, '0x').replace('#', ''))
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}

/** HTML entities that occur in titles. Names are case-sensitive: `&Eacute;` and `&eacute;` are two letters. */
const entityNames: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['sbquo', '‚'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bdquo', '„'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['bull', '•'],
  ['euro', '€'],
  ['trade', '™'],
  ['ensp', ' '],
  ['emsp', ' '],
  ['thinsp', ' '],
  ['OElig', 'Œ'],
  ['oelig', 'œ'],
  ['Scaron', 'Š'],
  ['scaron', 'š'],
  ...latinNames(),
])

/** The upper half of Latin-1, in order. */
function latinNames(): readonly (readonly [string, string])[] {
  const names =
    'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
  return names.split(' ').map((name, at) => [name, String.fromCodePoint(0xa0 + at)] as const)
}
