/*
 * Normalizes words for comparison: without case, accents and punctuation. The database is not used for this, because
 * its rules for letters depend on its locale.
 */

/** Returns the normalized words. Empty if the text has no letters, digits or known currency signs. */
export function foldWords(text: string): string {
  return foldMarks(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/**
 * Normalizes a search. Quoted phrases, `or` and a leading minus keep their meaning. `covid-19` becomes two words, as in
 * titles.
 */
export function foldSearchQuery(query: string): string {
  return foldMarks(query)
    .replace(/[“”„«»]/g, '"')
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=\S)-+|-+(?![\p{L}\p{N}"])/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
}

/** Both parts are in the syntax of a web search. */
export interface SearchWords {
  readonly wanted: string
  /** Words and phrases that had a leading minus, joined by `or`. Undefined: the query excludes nothing. */
  readonly excluded: string | undefined
}

const excludedWord = /(?<!\S)-("[^"]*"?|\S+)/g

/** Separates the wanted from the excluded words. Providers receive only the wanted words. */
export function readSearchWords(folded: string): SearchWords {
  const excluded = [...folded.matchAll(excludedWord)].map(([, word = '']) => word)
  return {
    wanted: folded.replace(excludedWord, ' ').replace(/ +/g, ' ').trim(),
    excluded: excluded.length === 0 ? undefined : excluded.join(' or '),
  }
}

function foldMarks(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/\p{Sc}/gu, nameOfCurrency)
}

// Names that replace currency signs, because headlines use both `$` and "dollar".
const currencies: Readonly<Record<string, string>> = {
  $: 'dollar',
  '€': 'euro',
  '£': 'pound',
  '¥': 'yen',
  '₹': 'rupee',
  '₿': 'bitcoin',
  '₽': 'ruble',
  '₩': 'won',
}

function nameOfCurrency(sign: string): string {
  return ` ${currencies[sign] ?? ''} `
}
