import { text } from '../../product/text.ts'

const lengthMax = 200

/**
 * A line in the top or bottom margin of each PDF page. It is plain text, so the line cannot load resources or run
 * scripts.
 */
export const marginText = text({
  expected: `a line of 1 to ${lengthMax} characters, in which {page}, {pages}, {title}, {url} and {date} are replaced`,
  shown: { minLength: 1, maxLength: lengthMax },
  test: (value) => value !== '' && value.length <= lengthMax,
})

// Classes of the elements that Chromium fills in. This is a map because a caller could request inherited members of an
// object, such as `constructor`.
const classes: ReadonlyMap<string, string> = new Map([
  ['page', 'pageNumber'],
  ['pages', 'totalPages'],
  ['title', 'title'],
  ['url', 'url'],
  ['date', 'date'],
])

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function marginTemplate(line: string): string {
  const escaped = line.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '')
  const filled = escaped.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const found = classes.get(name)
    return found === undefined ? whole : `<span class="${found}"></span>`
  })
  return `<div style="width:100%;margin:0 1cm;font:9px sans-serif;text-align:center">${filled}</div>`
}
