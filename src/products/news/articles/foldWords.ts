/*
 * Prepares words for comparison, without case, accents and punctuation. The database does not do this, because its
 * letters depend on its locale. In some locales “quantum” in curly quotes differs from quantum.
 */

/** Returns the words of a text, separated by single spaces; empty if the text has no letters, digits or currency signs. */
export function foldWords(text: string): string {
  return foldMarks(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/**
 * Returns the words of a search query. "Phrases", `or` and a leading minus keep their meaning. `covid-19` becomes two
 * words, as in titles.
 */
export function foldSearchQuery(query: string): string {
  return foldMarks(query)
    .replace(/[“”„«»]/g, '"')
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=\S)-+|-+(?![\p{L}\p{N}"])/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
}

/** A search query in two parts, in the syntax of a web search. */
export interface SearchWords {
  readonly wanted: string
  /** Words and phrases with a leading minus, joined by `or`; undefined if there are none. */
  readonly excluded: string | undefined
}

const excludedWord = /(?<!\S)-("[^"]*"?|\S+)/g

/** Separates the excluded words from a folded query. Providers receive only the wanted ones. */
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

// Replace currency signs by words, because headlines use both $ and dollar.
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
