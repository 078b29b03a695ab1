import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { newcomerEnv } from '../support/localProcess.ts'
import { localConfig, openLocalMode, type OpenedLocalMode } from '../support/openLocalMode.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/*
 * Every example of the pages for new users, run unchanged and in the order of the page, next to a local mode as the
 * pages assume it. A fence that names a language is an example; one that names none shows something.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
let service: OpenedLocalMode
let home: string
// One folder for all pages, because npx installs a package once for each folder.
let folder: string

beforeAll(async () => {
  home = await makeScratchDirectory()
  folder = await makeScratchDirectory()
  for (const name of ['src', 'packages', 'node_modules', 'package.json', 'migrations'])
    await symlink(join(root, name), join(folder, name))
  // npx compares the whole tree of packages: 3 s of processor time for each command. The README is run with npx itself.
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'npx'), shortcut, { mode: 0o755 })
  service = await openLocalMode(localConfig(home))
})

/** Starts our program as npx does, and nothing else. */
const shortcut = `#!/bin/sh
[ "$1" = tollbook ] && shift && exec node '${root}/src/cli/tollbook.js' "$@"
exit 64
`

interface Example {
  readonly language: string
  readonly code: string
}

function examplesOf(page: string): readonly Example[] {
  return [...page.matchAll(/^([ ]*)```(sh|ts|js)\n([\s\S]*?)^[ ]*```$/gm)].map(
    ([, indent = '', language = '', code = '']) => {
      return { language, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
    },
  )
}

/**
 * One shell script of all examples; programs are written where it runs, under the name in their first line if they have
 * one.
 */
async function scriptOf(page: string): Promise<string> {
  const lines = ['set -eu']
  for (const [number, { language, code }] of examplesOf(page).entries()) {
    if (language === 'sh') {
      lines.push(code)
      continue
    }
    const name = /^\/\/ (\w+\.mjs):/.exec(code)?.[1]
    await writeFile(join(folder, name ?? `example-${number}.ts`), code)
    // A program with a name is called by a later example.
    if (name === undefined) lines.push(`node example-${number}.ts`)
  }
  return lines.join('\n').replaceAll('http://127.0.0.1:3402', service.local.baseUrl)
}

async function run(path: string, { isWithNpx = false } = {}): Promise<string> {
  const page = await readFile(join(root, path), 'utf8')
  // Setting up is what the test before this one did.
  const script = (await scriptOf(page)).replaceAll(/^npm (ci|run demo).*$/gm, '')
  const programs = [
    ...(isWithNpx ? [] : [join(folder, 'bin')]),
    join(root, 'node_modules/.bin'),
    process.env['PATH'] ?? '',
  ]
  const env = { ...newcomerEnv(home), PATH: programs.join(':') }
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env, maxBuffer: 1e8 })
  return stdout
}

test('the examples of the README do what the page says', async () => {
  const said = await run('README.md', { isWithNpx: true })
  expect(said).toContain('"code":"PAYMENT_REQUIRED"')
  expect(said).toContain('"receiptCheck":')
  expect(said).toMatch(/^200 [1-9A-HJ-NP-Za-km-z]{80,}$/m)
})

test('the examples for payers do what the page says', async () => {
  const said = await run('docs/sdk.md')
  expect(said).toMatch(/^64x64 for 5 tokens, payment \w+$/m)
  expect(said).toMatch(/^200 the stored answer$/m)
  expect(said).toMatch(/^verified: 1500000 base units burned$/m)
  expect(said).toMatch(/^\{"valid":true,"receipt":\{.*"checkpoint":\{"origin":"tollbook\//m)
  expect(said).toMatch(/^in the ledger of \d+ events$/m)
})

test('the commands of the month end do what the page says', async () => {
  const said = await run('docs/finance.md')
  expect(said).toMatch(
    /^\{"valid":true,"closing":\{"origin":"tollbook\/\w+","month":"\d{4}-\d\d","status":"preliminary"/m,
  )
})

test('the program of the page of tabs pays from a tab', async () => {
  const said = await run('docs/tabs.md')
  expect(said).toMatch(/^200 base units left on the tab: \d+$/m)
})
