/*
 * Words for comparison: without case, accents and punctuation. Folded here and not in the database, whose letters depend
 * on its locale: in some locales “quantum” in curly quotes differs from quantum.
 */

/** Words of a text, separated by single spaces; empty for a text without letters, digits and currency signs. */
export function foldWords(text: string): string {
  return foldMarks(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Words of a question. "Phrases", `or` and a leading minus keep their meaning; `covid-19` is two words, as in titles. */
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
  /** Words and phrases after a minus, joined by `or`; undefined when there are none. */
  readonly excluded: string | undefined
}

const excludedWord = /(?<!\S)-("[^"]*"?|\S+)/g

/** A folded question without the words that it excludes: providers are asked for the others only. */
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

// Spoken as words: a headline writes $ or dollar.
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
