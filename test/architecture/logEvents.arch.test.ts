import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/* Operators look up the name of a log line in docs/operations.md. Debug lines and those of local mode are not for them. */

const sources = globSync(['src/**/*.ts', 'packages/ledger/src/**/*.ts']).filter((path) => !path.includes('/cli/local/'))

const listed = /### Log events([^]*?)\n## /.exec(readFileSync('docs/operations.md', 'utf8'))?.[1] ?? ''

test('every log event of the service is listed in docs/operations.md', () => {
  const logged = sources.flatMap((path) => {
    const lines = readFileSync(path, 'utf8').replaceAll(/log\.debug\([^)]*\)/g, '')
    return [...lines.matchAll(/event: '([a-z_]+)'(?=,|\n| \})/g)].map(([, event = '']) => `${event} (${path})`)
  })
  expect(logged.length).toBeGreaterThan(50)
  expect(logged.filter((line) => !listed.includes(`\`${line.split(' ')[0]}\``))).toEqual([])
})

test('docs/operations.md lists no log event that the service does not write', () => {
  const code = [...sources, ...globSync('src/cli/local/**/*.ts')].map((path) => readFileSync(path, 'utf8')).join('\n')
  const isWritten = (event: string) =>
    code.includes(`'${event}'`) || code.includes(`event: \`${event.replace(/_[a-z]+$/, '_')}\${`)
  const [table = '', noAction = ''] = listed.split('These need no action')
  const cells = [...table.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell)
  const events = [...cells, noAction].flatMap((text) =>
    [...text.matchAll(/`([a-z_]+)`/g)].map(([, event = '']) => event),
  )
  expect(events.length).toBeGreaterThan(50)
  expect(events.filter((event) => !isWritten(event))).toEqual([])
})

test('only programs that run until they are stopped log to stdout, which is the output of all others', () => {
  const callsOf = (path: string) => [...readFileSync(path, 'utf8').matchAll(/createLog\((\{[^]*?\})\)/g)]
  const found = globSync('src/cli/**/*.ts').filter((path) =>
    callsOf(path).some(([, options = '']) => !options.includes('destination')),
  )
  expect(found).toEqual(['chain', 'demo', 'serve', 'signer'].map((name) => `src/cli/${name}.ts`))
})
