import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readProse } from '../../scripts/proseText.ts'

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !path.startsWith('test/fixtures/'))
const code = files.filter((path) => /\.(ts|js|cjs|sql)$/.test(path))
const sources = code.map((path) => ({ path, text: readFileSync(path, 'utf8') }))

interface Mention {
  readonly place: string
  readonly word: string
}

const comments = sources.flatMap(({ path, text }) =>
  readProse(path, text)
    .spans.filter(({ kind }) => kind === 'comment')
    .map(({ line, text: comment }) => ({ place: `${path}:${line}`, text: comment })),
)

test('a path in a comment exists', () => {
  const known = new Set(files.flatMap((path) => endsOf(path.split('/'))))
  const paths = comments.flatMap(({ place, text }) =>
    [...text.matchAll(/(?<![\w./:{<-])[\w-]+(?:[./][\w-]+)*\.(?:ts|cjs|sql|md)\b/g)].map(([word]): Mention => ({
      place,
      word,
    })),
  )
  expect(paths.length).toBeGreaterThan(50)
  expect(paths.filter(({ word }) => !known.has(word))).toEqual([])
})

test('a name in a comment is a name of the code', () => {
  const words = new Set(
    sources.flatMap(({ path, text }) => withoutComments(path, text).match(/[A-Za-z_$][\w$]*/g) ?? []),
  )
  const names = comments
    .flatMap(({ place, text }) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, word = '']): Mention => ({ place, word })))
    .filter(({ word }) => /^[a-z]+[A-Z]\w*(\(\))?$|^[A-Z][a-z]+[A-Z]\w*$/.test(word))
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter(({ word }) => !words.has(word.replace('()', '')))).toEqual([])
})

/** `a/b/c`, `b/c` and `c`. */
function endsOf(parts: readonly string[]): readonly string[] {
  return parts.map((_part, at) => parts.slice(at).join('/'))
}

function withoutComments(path: string, text: string): string {
  return path.endsWith('.sql')
    ? text.replaceAll(/--[^\n]*/g, '')
    : text.replaceAll(/\/\*[\s\S]*?\*\/|(^|\s)\/\/[^\n]*/g, '')
}
