import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { expect, test } from 'vitest'
import * as client from '@tollbook/client/client'
import * as node from '@tollbook/client/node'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* The public functions of @tollbook/client have an example in their comment, which the compiler accepts. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const entries = ['client.ts', 'node.ts'].map((name) => join(root, 'packages/client/src', name))

/** Examples of the functions that a file declares, by their name. */
function readExamples(path: string): readonly (readonly [name: string, code: string])[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  return source.statements.filter(ts.isFunctionDeclaration).flatMap((declared) => {
    const tag = ts.getJSDocTags(declared).find(({ tagName }) => tagName.text === 'example')
    const code = ts.getTextOfJSDocComment(tag?.comment)
    return declared.name === undefined || code === undefined ? [] : [[declared.name.text, code] as const]
  })
}

test('each public function has an example, and each example compiles against the public entries', async () => {
  const examples = globSync('packages/client/src/*.ts', { cwd: root }).flatMap((path) => readExamples(join(root, path)))
  const functions = Object.entries({ ...client, ...node }).filter(([, value]) => isPlainFunction(value))
  expect(examples.map(([name]) => name).toSorted()).toEqual(functions.map(([name]) => name).toSorted())

  const folder = await makeScratchDirectory()
  const files = examples.map(([name, code]) => [`${name}.ts`, code] as const)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await Promise.all(files.map(([name, code]) => writeFile(join(folder, name), `${code}\nexport {}\n`)))
  const [main, forNode] = entries
  const compilerOptions = {
    typeRoots: [join(root, 'node_modules/@types')],
    incremental: false,
    paths: { '@tollbook/client': [main], '@tollbook/client/node': [forNode] },
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files: files.map(([name]) => name),
    include: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
  const compiled = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(
    (error: unknown) => error,
  )
  expect(compiled).toMatchObject({ stdout: '' })
})

/** Not a class. */
function isPlainFunction(value: unknown): boolean {
  return typeof value === 'function' && !Function.prototype.toString.call(value).startsWith('class')
}
