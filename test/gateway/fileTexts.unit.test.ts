import { expect, test } from 'vitest'
import { z } from 'zod'
import { durationText, forwardedName, headerName, pointerText, sizeText } from '../../src/gateway/fileTexts.ts'
import { fillVariables, findWrittenSecrets } from '../../src/gateway/fileVariables.ts'
import { mistakesOf } from '../../src/gateway/fileMistake.ts'
import { priceShape } from '../../src/gateway/productsFile.ts'
import { readTexts } from '../../src/gateway/orderTexts.ts'
import { readYaml } from '../../src/gateway/readYaml.ts'

test.each([
  ['500ms', 500],
  ['10s', 10_000],
  ['5m', 300_000],
  ['301s', undefined],
  ['0s', undefined],
  ['1.5s', undefined],
  ['1h', undefined],
  ['10', undefined],
])('the time %s is %s ms', (text, ms) => {
  expect(durationText.safeParse(text).data).toBe(ms)
})

test.each([
  ['512B', 512],
  ['2KiB', 2_048],
  ['64MiB', 67_108_864],
  ['65MiB', undefined],
  ['1MB', undefined],
])('the size %s is %s bytes', (text, bytes) => {
  expect(sizeText.safeParse(text).data).toBe(bytes)
})

test('a pointer has the names between its slashes, which may contain a slash and a tilde', () => {
  expect(pointerText.parse('/a~1b/~01/c')).toEqual(['a/b', '~1', 'c'])
  for (const text of ['', 'a', '/', '/a/', '/a~2']) expect(pointerText.safeParse(text).success).toBe(false)
})

const notPassedOn = `authorization cookie set-cookie set-cookie2 proxy-authorization x-payment x-payment-proof
  payment-signature x-wallet-address x-forwarded-for forwarded tollbook-receipt x-tollbook-payer idempotency-key
  x-request-id content-type content-encoding host connection transfer-encoding`

test.each(notPassedOn.split(/\s+/))('the header %s is not passed on', (name) => {
  expect(forwardedName.safeParse(name).success).toBe(false)
})

test('other headers are passed on, in lower case, and the operator may set a key', () => {
  for (const name of ['etag', 'accept-language']) expect(forwardedName.safeParse(name).success).toBe(true)
  expect(['authorization', 'Etag', 'content-length'].map((name) => headerName.safeParse(name).success)).toEqual([
    true,
    false,
    false,
  ])
})

test.each(['authorization', 'x-api-key', 'x-token', 'cookie', 'client-secret', 'x-password', 'x-signature'])(
  'a value of the header %s that is written in the file is a mistake, and one of a variable is not',
  (name) => {
    const found = (text: string) =>
      findWrittenSecrets({ upstreams: { a: { headers: { accept: '*/*', [name]: text } } } })
    expect(found('abc')).toEqual([
      { path: ['upstreams', 'a', 'headers', name], message: expect.stringContaining('holds a secret') },
    ])
    expect(found('Bearer ${KEY}')).toEqual([])
  },
)

test('two dollar signs keep the braces as text, and each missing variable is a mistake at its place', () => {
  const read = (name: string) => (name === 'A' ? { value: 'one' } : { problem: 'is not set' })
  const filled = fillVariables({ list: ['${A}-${A}', '$${A}'], at: { b: 'x${B}' }, c: '${a-b}' }, read)
  expect(filled.value).toEqual({ list: ['one-one', '${A}'], at: { b: 'x' }, c: '' })
  expect(filled.mistakes).toEqual([
    { path: ['at', 'b'], message: 'needs the variable B, which is not set' },
    { path: ['c'], message: 'needs the variable a-b, which is not the name of a variable' },
  ])
})

const properties = {
  count: { type: 'integer' },
  name: { type: ['string', 'number'] },
  isNew: { type: 'boolean' },
  none: { type: ['null', 'integer'] },
  list: { type: 'array', items: { type: 'number' } },
  object: { type: 'object' },
  level: { enum: [1, 2] },
  fixed: { const: true },
}

test.each([
  ['count', '-12', -12],
  ['count', '012', '012'],
  ['count', '1e3', '1e3'],
  ['name', '1.50', '1.50'],
  ['isNew', 'false', false],
  ['isNew', 'no', 'no'],
  ['none', 'null', null],
  ['none', '5', 5],
  ['list', '1,2.5', [1, 2.5]],
  ['list', '[1,2]', [1, 2]],
  ['list', '', []],
  ['object', '{"a":1}', { a: 1 }],
  ['object', '{', '{'],
  ['level', '2', 2],
  ['fixed', 'true', true],
  ['other', '1', '1'],
])('the parameter %s reads the text "%s" as %j', (name, text, value) => {
  expect(readTexts({ properties }, { [name]: text })).toEqual({ [name]: value })
})

test('a JSON body keeps its texts, apart from the values of the path', () => {
  expect(readTexts({ properties }, { count: '1', none: '2' }, ['count'])).toEqual({ count: 1, none: '2' })
})

test('a value of a wrong type is not called missing, and no message is of a library', () => {
  const shape = z.strictObject({
    a: z.string().min(1),
    b: z.array(z.boolean()).max(1),
    c: z.enum(['x', 'y']),
    d: z.int(),
  })
  const messages = (value: unknown) => {
    const { error } = shape.safeParse(value)
    return mistakesOf(error ?? new z.ZodError([]), shape, []).map(({ path, message }) => `${path.join('.')} ${message}`)
  }
  expect(messages({ a: 5, b: 'x', c: 'z', d: 1.5 })).toEqual([
    'a must be text; write a number or a date in quotes',
    'b must be a list',
    'c must be x or y',
    'd must be a whole number',
  ])
  expect(messages({ a: '', b: [true, true], c: 'x' })).toEqual([
    'a must have at least 1 characters',
    'b must have at most 1 items',
    'd is missing',
  ])
  const headers = z.record(headerName, z.string())
  const { error } = headers.safeParse({ Authorization: 'x' })
  expect(mistakesOf(error ?? new z.ZodError([]), headers, [])).toMatchObject([
    { path: ['Authorization'], message: 'must be a header name in lower case' },
  ])
  const { error: bare } = priceShape.safeParse(0.01)
  expect(mistakesOf(bare ?? new z.ZodError([]), priceShape, ['price'])).toMatchObject([
    { message: 'must be a mapping such as { usd: "0.01" }' },
  ])
  expect(readYaml('f', 'a: 1\n---\nb: 2\n').syntax).toEqual([
    'f:2:1: the file has more than one document; remove the line ---',
  ])
})

test('an alias without an anchor, and too many aliases, are mistakes with their line', () => {
  const { syntax } = readYaml('f', 'version: 1\nroutes: *nope\n')
  expect(syntax).toEqual([expect.stringMatching(/^f:2:9: Unresolved alias .*: nope$/)])
  const aliases = Array.from({ length: 101 }, () => '*a').join(', ')
  const many = readYaml('f', `builtin: &a [1, 1]\nroutes: [${aliases}]\n`)
  expect(many.syntax).toEqual([expect.stringMatching(/^f:2:10: Excessive alias count/)])
})
