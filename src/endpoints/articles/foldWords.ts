/*
 * Words as they are compared: without case, accents and punctuation. Done here and not in the database, whose idea of a
 * letter depends on the locale it was made with: in some, “quantum” in curly quotes is another word than quantum.
 */

export function foldWords(text: string): string {
  return foldMarks(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Words of a question: "phrases", `or` and a leading minus keep their meaning; `covid-19` is two words, as in titles. */
export function foldQuestion(query: string): string {
  return foldMarks(query)
    .replace(/[“”„«»]/g, '"')
    .replace(/[^\p{L}\p{N}"-]+/gu, ' ')
    .replace(/(?<=\S)-+|-+(?![\p{L}\p{N}"])/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
}

function foldMarks(text: string): string {
  return text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')
}
