import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/* Operators look up the name of a log line in docs/operations.md. Debug lines and those of local mode are not for them. */

const sources = globSync(['src/**/*.ts', 'packages/ledger/src/**/*.ts']).filter((path) => !path.includes('/cli/local/'))

test('every log event of the service is listed in docs/operations.md', () => {
  const listed = /### Log events([^]*?)\n## /.exec(readFileSync('docs/operations.md', 'utf8'))?.[1] ?? ''
  const logged = sources.flatMap((path) => {
    const lines = readFileSync(path, 'utf8').replaceAll(/log\.debug\([^)]*\)/g, '')
    return [...lines.matchAll(/event: '([a-z_]+)'(?=,|\n| \})/g)].map(([, event = '']) => `${event} (${path})`)
  })
  expect(logged.length).toBeGreaterThan(50)
  expect(logged.filter((line) => !listed.includes(`\`${line.split(' ')[0]}\``))).toEqual([])
})
