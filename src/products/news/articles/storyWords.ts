import { foldWords } from './foldWords.ts'

// Words that are common in headlines of all stories.
const commonWords: ReadonlySet<string> = new Set(
  'a after all amid an and are as at be been but by can could did do does for from had has have he her his how in into is it its may more new news not of off on one or our out over s says she t than that the their them they this to up was we were what when where which who why will with would you your'.split(
    ' ',
  ),
)
const wordsMax = 30
const suffixWordsMax = 4

/**
 * Returns the significant words of a title. Articles with nearly the same words count as the same story. Removes the
 * publisher, because news indexes append it, as in "Title - A Daily".
 */
export function storyKeyOf(title: string, publisher: string): string {
  const words = foldWords(withoutPublisher(title, publisher)).split(' ')
  const significant = words.filter((word) => word !== '' && !commonWords.has(word))
  return [...new Set(significant)].sort().slice(0, wordsMax).join(' ')
}

function withoutPublisher(title: string, publisher: string): string {
  const [, head = '', tail = ''] = /^(.*\S)\s+[-–—|]\s+([^-–—|]+)$/.exec(title) ?? []
  const words = foldWords(tail).split(' ')
  const name = foldWords(publisher).replaceAll(' ', '')
  const isPublisher = words.length <= suffixWordsMax && words.every((word) => name.includes(word))
  return head !== '' && isPublisher ? head : title
}
