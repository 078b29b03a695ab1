import { expect, test } from 'vitest'
import { compileSchema, isSegment, parametersType } from '../../src/gateway/checkParameters.ts'
import { closedSchema, inlineReferences, type Schema } from '../../src/gateway/parameterSchema.ts'

const typeOf = (schema: Schema, inPath: readonly string[] = []) =>
  parametersType({ schema, check: compileSchema(schema), inPath, isJoined: () => false, fixed: [] }, (input) => input)

const issuesOf = (schema: Schema, input: unknown, inPath?: readonly string[]) =>
  typeOf(schema, inPath)
    .safeParse(input)
    .error?.issues.map(({ path, message }) => `${path.join('/')}: ${message}`)

test.each(['', '.', '..', 'a/b', 'a\\b', 'a%2fb', 'a?b', 'a#b', 'a;b', 'a\nb', 'x'.repeat(513), true, null, [1]])(
  '%j is not one segment of a path',
  (value) => expect(isSegment(value)).toBe(false),
)

test.each(['a', 'a.b', '...', 'ä b', 7, -1.5, 'x'.repeat(512)])('%j is one segment of a path', (value) =>
  expect(isSegment(value)).toBe(true),
)

test('each parameter of the path is one segment, not only the first', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  expect(issuesOf(schema, { a: 'x', b: 'y' }, ['a', 'b'])).toBeUndefined()
  expect(issuesOf(schema, { a: 'x', b: 'y/z' }, ['a', 'b'])).toEqual([expect.stringMatching(/^b: must be one segment/)])
})

test('a mistake names its place: a missing member, a stray one, and a value of a list', () => {
  const inner = { type: 'object', required: ['m'], properties: { m: { enum: ['x', 2] } }, additionalProperties: false }
  const schema = { type: 'object', properties: { 'o/p': inner } }
  expect(issuesOf(schema, { 'o/p': {} })).toEqual(['o/p/m: is required'])
  expect(issuesOf(schema, { 'o/p': { m: 'y' } })).toEqual(['o/p/m: must be one of "x",2'])
  expect(issuesOf(schema, { 'o/p': { m: 2, n: 1 } })?.join()).toContain('"n"')
  const escaped = { type: 'object', properties: { '~1': { type: 'number' } } }
  expect(issuesOf(escaped, { '~1': 'x' })).toEqual(['~1: must be number'])
  expect(issuesOf(schema, { 'o/p': { m: 'x' }, a: '\ud800' })).toEqual([expect.stringContaining('lone surrogates')])
})

test('a text of format url has at most 2,048 characters, because its expression takes quadratic time', () => {
  const schema = { type: 'object', properties: { u: { type: 'string', format: 'url' } } }
  const address = (length: number) => 'https://a.example/'.padEnd(length, 'x')
  expect(issuesOf(schema, { u: address(2_048) })).toBeUndefined()
  for (const u of [address(2_049), 'https://a b', `http://a${':'.repeat(60_000)}`])
    expect(issuesOf(schema, { u })).toEqual([expect.stringContaining('must match format "url"')])
})

test('a schema is closed once, and not against the members of the schemas that it combines', () => {
  expect(closedSchema({ properties: {} })).toEqual({ type: 'object', properties: {}, additionalProperties: false })
  expect(closedSchema({ allOf: [] })).toEqual({ type: 'object', allOf: [], unevaluatedProperties: false })
  for (const open of [{ additionalProperties: true }, { unevaluatedProperties: true }])
    expect(closedSchema(open)).toEqual({ type: 'object', ...open })
})

test('a reference keeps what is written next to it: a description replaces, and a limit applies in addition', () => {
  const $defs = { size: { type: 'integer', description: 'A size', maximum: 9 } }
  const inlined = (more: object) => {
    const root = { $defs, properties: { a: { $ref: '#/$defs/size', ...more } } }
    const place = { file: '/x.yaml', root, documents: new Map<string, unknown>() }
    return inlineReferences(root, place)['properties']
  }
  expect(inlined({ description: 'My size' })).toEqual({ a: { type: 'integer', description: 'My size', maximum: 9 } })
  expect(inlined({ maximum: 5 })).toEqual({ a: { maximum: 5, allOf: [$defs.size] } })
})

test.each([
  ['allOf', { allOf: [{ properties: { size: { maximum: 9 } } }] }, { o: { size: 1, Size: 10 } }, 'o/Size'],
  ['nested allOf', { allOf: [{ oneOf: [{ properties: { size: {} } }] }] }, { o: { Size: 10 } }, 'o/Size'],
  ['oneOf', { oneOf: [{ properties: { a: {} } }, { required: ['b'] }] }, { o: { A: 1 } }, 'o/A'],
  ['anyOf', { anyOf: [{ properties: { a: {} } }] }, { o: { A: 1 } }, 'o/A'],
  ['else', { if: false, else: { properties: { a: {} } } }, { o: { A: 1 } }, 'o/A'],
  ['dependentSchemas', { dependentSchemas: { b: { properties: { a: {} } } } }, { o: { A: 1 } }, 'o/A'],
  ['allOf next to properties', { properties: { a: {} }, allOf: [{ properties: { b: {} } }] }, { o: { B: 1 } }, 'o/B'],
  ['items of allOf', { allOf: [{ items: { properties: { a: {} } } }] }, { o: [{ A: 1 }] }, 'o/0/A'],
  ['prefixItems', { prefixItems: [{}, { properties: { a: {} } }] }, { o: [{ A: 1 }, { A: 1 }] }, 'o/1/A'],
  ['additionalProperties', { additionalProperties: { properties: { a: {} } } }, { o: { x: { A: 1 } } }, 'o/x/A'],
])('a member that differs only in case from one of a combined schema is refused: %s', (_, o, order, place) =>
  expect(issuesOf({ type: 'object', properties: { o } }, order)).toEqual([
    expect.stringMatching(`^${place}: must be absent`),
  ]),
)
