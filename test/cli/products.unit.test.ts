import { systemClock } from '@tollbook/core/clock'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { loadCommands } from '../../src/cli/loadCommands.ts'
import { answersJson, answersText, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* `tollbook products`: an operator checks and tries a file before it is sold. */

const api = await openLoopbackServer(answersJson(200, { ok: true }))
const file = join(await makeScratchDirectory(), 'tollbook.yaml')
writeFileSync(
  file,
  `
version: 1
upstreams: { acme: { url: "${api.url}" } }
routes:
  - path: /acme/items/{id}
    summary: One item
    upstream: acme
    to: /items/{id}
    price: { by: /id, usd: { a: "0.01", b: "0.02" }, otherwise: "0.03" }
    parameters: { required: [id], properties: { id: { type: string }, n: { type: integer } } }
    example: { id: a }
  - path: /acme/chat
    method: POST
    summary: Chat
    upstream: acme
    to: /chat
    price: { usd: "0.01" }
    parameters: { properties: { n: { type: integer }, t: { type: string } } }
    stream: passthrough
    success: { ends_with: end }
  - path: /acme/rows
    summary: Rows
    upstream: acme
    to: /rows
    price: { usd: "0.01", use: { rows: /rows, per_row: "0.002", minimum: "0.003" } }
  - path: /acme/llm
    method: POST
    summary: Chat by tokens
    upstream: acme
    to: /llm
    price: { usd: "0.01", use: { input_per_million: 10, output_per_million: 100 } }
    parameters: { properties: { messages: { type: array }, stream: { type: boolean } } }
    stream: passthrough
`,
)

beforeEach(() => {
  api.asked.length = 0
  api.script(answersJson(200, { ok: true }))
})

async function run(...args: readonly string[]) {
  const said = { stdout: '', stderr: '', code: 0 }
  const [command] = await loadCommands('products', {
    stdout: { write: (text) => (said.stdout += text) !== '' },
    stderr: { write: (text) => (said.stderr += text) !== '' },
    home: () => '/nowhere',
    setExitCode: (code) => void (said.code = code),
    interrupted: new AbortController().signal,
    clock: systemClock,
  })
  await command?.parseAsync([...args], { from: 'user' })
  return said
}

const tryRoute = (...args: readonly string[]) => run('try', '--file', file, ...args)

test('check lists what the file sells', async () => {
  const { stdout, code } = await run('check', file)
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      routes: [
        { path: '/acme/items/{id}', pricesUsd: ['0.03', '0.01', '0.02'] },
        { path: '/acme/chat', method: 'POST', unit: null },
        { path: '/acme/rows', unit: 'rows' },
        { path: '/acme/llm', unit: 'tokens' },
      ],
    },
  ])
})

test('check lists the built-in products that the file sells', async () => {
  const builtin = join(dirname(file), 'builtin.yaml')
  writeFileSync(builtin, 'version: 1\nbuiltin: [weather, { name: qrcode, off: true }, { name: pdf, price: "0.1" }]\n')
  const { stdout, code } = await run('check', builtin)
  expect([code, JSON.parse(stdout)]).toEqual([0, { routes: [], builtin: ['weather', 'pdf'] }])
})

test('import prints entries that the check accepts, and its remarks on stderr', async () => {
  const imported = join(dirname(file), 'imported.yaml')
  const document = join(dirname(file), 'api.json')
  const parameters = [
    { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'X-Tenant', in: 'header', required: true, schema: { type: 'string' } },
  ]
  const api = {
    openapi: '3.1.0',
    info: { title: 'Acme' },
    servers: [{ url: 'https://{host}/v1', variables: { host: { default: 'acme.example' } } }],
  }
  writeFileSync(
    document,
    JSON.stringify({ ...api, paths: { '/items/{id}': { get: { summary: 'One ${item}', parameters } } } }),
  )
  const order = ['import', document, '--operation', 'GET /items/{id}', '--price', '0.01']
  const { stdout, stderr, code } = await run(...order)
  expect([code, stdout]).toEqual([0, expect.stringContaining('url: https://acme.example/v1')])
  expect(stderr).toContain('GET /items/{id}: needs the header "X-Tenant"')
  writeFileSync(imported, stdout)
  expect(await run('check', imported)).toMatchObject({ code: 0 })
  expect(await run('import', document, '--operation', 'GET /item', '--price', '1')).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('is not known; use GET /items/{id}'),
  })
})

test('check reports a mistake with its line, and ends with 4', async () => {
  const wrong = `${file}.wrong`
  writeFileSync(wrong, 'version: 2\n')
  expect(await run('check', wrong)).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining(`${wrong}:1:10: version: must be 1`),
  })
})

test('try asks the API as a sale would, and prints its bytes', async () => {
  expect(await tryRoute('/acme/items/{id}', 'id=a b', 'n=3')).toEqual({
    code: 0,
    stdout: '{"ok":true}',
    stderr: 'sold: application/json, 11 bytes\n',
  })
  expect(api.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /items/a%20b?n=3'])
})

test('try sends a JSON body, and prints a stream as it arrives', async () => {
  api.script(answersText(200, 'data: end\n\n', { 'content-type': 'text/event-stream' }))
  expect(await tryRoute('/acme/chat', 'n=3', 't=hello')).toEqual({
    code: 0,
    stdout: 'data: end\n\n',
    stderr: 'sold: text/event-stream, as it arrives\n',
  })
  expect(api.asked[0]?.body).toBe('{"n":3,"t":"hello"}')
})

test('try shows why an answer would not be sold, and ends with 4', async () => {
  api.script(answersJson(500, {}))
  const failed = await tryRoute('/acme/items/{id}', 'id=a')
  expect(failed.code).toBe(4)
  expect(failed.stderr).toContain('the upstream answered HTTP 500')
  expect(failed.stderr).toContain('not sold: UPSTREAM_FAILED')
  api.script(answersText(200, 'data: 1\n\n', { 'content-type': 'text/event-stream' }))
  expect(await tryRoute('/acme/chat')).toMatchObject({ code: 4, stderr: expect.stringContaining('the stream broke') })
})

test.each([
  [['/acme/items'], 'the file sells /acme/items/{id}, /acme/chat, /acme/rows, /acme/llm (got /acme/items)'],
  [['/acme/items/{id}'], 'id: is required'],
  [['/acme/items/{id}', 'id=..'], 'id: must be one segment of a path'],
  [['/acme/items/{id}', 'id'], 'write name=value (got id)'],
])('try refuses %j, asks no API and ends with 2', async (args, message) => {
  expect(await tryRoute(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  expect(api.asked).toEqual([])
})

test('schema prints the JSON Schema of the file', async () => {
  expect(JSON.parse((await run('schema')).stdout)).toMatchObject({ properties: { version: { const: 1 } } })
})

test.each([
  [[1, 2], '0.004', 2],
  [[], '0.003', 0],
  [Array.from({ length: 9 }, () => 1), '0.01', 9],
])('try prints the charge for rows %j', async (rows, usd, count) => {
  api.script(answersJson(200, { rows }))
  const { stderr, code } = await tryRoute('/acme/rows')
  expect(code).toBe(0)
  expect(stderr).toContain(
    `a tab pays ${usd} USD for 0 units of input and ${count} of output; all others pay 0.01 USD\n`,
  )
})

test('try prints the charge for a stream, and that the service counted', async () => {
  const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello you' } }] })
  api.script(answersText(200, `data: ${chunk}\n\n`, { 'content-type': 'text/event-stream' }))
  const { stderr } = await tryRoute('/acme/llm', 'messages=[{"role":"user","content":"Hi"}]', 'stream=true')
  expect(stderr).toContain('for 5 units of input and 3 of output, as counted here, because the API reports none; all')
})
