import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { environmentNames } from '../../src/config.ts'
import { upstreamNames } from '../../src/product/providerTerms.ts'

const root = new URL('../../', import.meta.url)
function textsOf(...patterns: readonly string[]): readonly string[] {
  const exclude = ['deploy/secrets/**', 'deploy/service.env', 'test/architecture/configuration.arch.test.ts']
  const files = globSync(patterns, { cwd: fileURLToPath(root), exclude })
  return files
    .filter((file) => /\.\w+$|Dockerfile$/.test(file))
    .map((file) => readFileSync(new URL(file, root), 'utf8'))
}

/** Names of `names` that the text does not have, neither plain nor as the name of a file. */
function missingIn(texts: readonly string[], names: readonly string[]): readonly string[] {
  const text = texts.join('\n')
  return names.filter((name) => !new RegExp(`(?<![A-Z_])${name}(?:_FILE)?(?![A-Z_])`).test(text))
}

const [, table = ''] = readFileSync(new URL('docs/operations.md', root), 'utf8').split(
  '\n| variable | default | meaning |\n',
)
// Up to the first line that is not a row: other tables of the page mention variables too.
const rows = table.split('\n\n')[0]?.split('\n') ?? []
const variables = rows.flatMap((row) =>
  [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name ?? ''),
)

// Address and key of a provider: docs/providers.md names them, and readConfig.unit.test.ts reads all of them.
const isOfProvider = (name: string) => upstreamNames.some((one) => [`${one}_URL`, `${one}_API_KEY`].includes(name))
const others = environmentNames.filter((name) => !isOfProvider(name))

test('each variable that is read has its row in the table of operations.md, and no other variable has one', () => {
  expect(variables.toSorted()).toEqual(environmentNames.toSorted())
})

test('each variable is set by a deployment, or by a command of the documentation', () => {
  const deployments = textsOf('Dockerfile', 'docker-compose.yml', 'deploy/**/*')
  const commands = textsOf('README.md', 'docs/*.md').flatMap((page) => page.match(/^ *```[^`]*^ *```/gm) ?? [])
  expect(missingIn([...deployments, ...commands], others)).toEqual([])
})

test('each variable is named by a test', () => {
  expect(missingIn(textsOf('test/**/*.ts'), others)).toEqual([])
})

test('a message that tells to set a variable names one that is read', () => {
  const sources = textsOf('src/**/*.ts', 'packages/*/src/**/*.ts').join('\n')
  const mentioned = [...sources.matchAll(/\bset ([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)].map(([, name = '']) => name)
  expect(mentioned.length).toBeGreaterThan(5)
  const known = new Set(environmentNames.flatMap((name) => [name, `${name}_FILE`]))
  expect(mentioned.filter((name) => !known.has(name))).toEqual([])
})
