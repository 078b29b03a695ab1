import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { requestFor } from '../../src/gateway/routeRequest.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

/* Mistakes of a products file: all at once, each at its line, with its fix. */

const folder = await makeScratchDirectory()
const file = join(folder, 'tollbook.yaml')
const readVariable = (name: string) => (name === 'KEY' ? { value: 's3cret' } : { problem: 'is not set' })
const read = (text: string) => {
  writeFileSync(file, text)
  return readProductsFile(file, { readVariable, handlerTimeoutMs: 30_000 })
}

/** The mistakes without the name of the file. */
function mistakesIn(text: string): readonly string[] {
  try {
    read(text)
    return []
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message
      .split('\n  ')
      .slice(1)
      .map((line) => line.replace(`${file}:`, ''))
  }
}

const head = 'version: 1\nupstreams: { a: { url: "http://127.0.0.1:1" } }\nroutes:\n'
const route = (more = '') => `  - { path: /x, summary: X, upstream: a, to: /x, price: { usd: "0.01" }${more} }\n`

const used = (use: string, more = '') => route(more).replace('"0.01" }', `"0.01", use: ${use} }`)
const byModel = (use: string) =>
  route(', parameters: { required: [m], properties: { m: { enum: [small, large] } } }, example: { m: small }').replace(
    '{ usd: "0.01" }',
    `{ by: /m, usd: { small: "0.01", large: "0.02" }, use: ${use} }`,
  )

test('a file without mistakes is read, with the values of variables', () => {
  const { routes, upstreams } = read(
    `${head.replace('1" }', '1", headers: { authorization: "Bearer ${KEY}" } }')}${route()}`,
  )
  expect(upstreams.get('a')).toMatchObject({ headers: { authorization: 'Bearer s3cret' }, timeout: 10_000 })
  expect(routes[0]?.prices.priceMicroUsd).toBe(10_000n)
})

test('parameters and examples keep a dollar sign with braces, because it may be text of the API', () => {
  const schema = '{ properties: { q: { type: string, default: "${A}" } } }'
  const { routes } = read(`${head}${route(`, parameters: ${schema}, example: { q: "\${B}" }`)}`)
  expect(routes[0]?.route).toMatchObject({
    example: { q: '${B}' },
    parameters: { properties: { q: { default: '${A}' } } },
  })
})

test('each parameter is sent once: in the path, in the query if the file says so, and else in the body', () => {
  const [entry] = read(
    head +
      route(
        ', method: POST, query: [a], parameters: { required: [p], properties: { a: {}, b: {}, p: {} } }, example: { p: x }',
      ).replace('to: /x', 'to: "/x/{p}?fixed=1"'),
  ).routes
  const target = entry && requestFor(entry.route, { a: [1, 2], b: 'two', p: 'a/b' })
  expect(target).toEqual({ target: '/x/a%2Fb?fixed=1&a=1&a=2', body: '{"b":"two"}' })
})

test('reports all mistakes at once, each at its line and column', () => {
  expect(
    mistakesIn(`version: 1
upstreams:
  a: { url: "http://127.0.0.1:1", headers: { x-api-key: abc }, time_out: 5s }
routes:
  - path: /x
    summary: X
    upstream: b
    to: /x/{id}
    price: { usd: "0" }
    sumary: y
  - { path: /api/y, summary: Y, upstream: a, to: /y, price: { usd: "\${PRICE}" } }
`),
  ).toEqual([
    '3:57: upstreams.a.headers.x-api-key: holds a secret; write ${NAME} and set the variable NAME, or NAME_FILE',
    '3:64: upstreams.a.time_out: is not known; did you mean timeout?',
    '9:19: routes[0].price.usd: the price must be a decimal number of US dollars from 0.000001 to 10000, such as 0.03',
    '10:5: routes[0].sumary: is not known; did you mean summary?',
    '11:13: routes[1].path: belongs to the service; choose another path',
    '11:68: routes[1].price.usd: needs the variable PRICE, which is not set',
  ])
})

test('built-in products are sold by their names, with the price of the file or without a sale', () => {
  const { builtin } = read(`version: 1\nbuiltin: [weather, { name: qrcode, price: "0.5" }, { name: pdf, off: true }]\n`)
  expect(builtin).toEqual([
    { name: 'weather', isOff: false },
    { name: 'qrcode', priceMicroUsd: 500_000n, isOff: false },
    { name: 'pdf', priceMicroUsd: undefined, isOff: true },
  ])
})

describe('a mistake', () => {
  const cases: readonly [string, string, string | RegExp][] = [
    ['a name that is written twice', `${head}${route()}version: 1\n`, /^5:1: Map keys must be unique/],
    ['an unknown name at the top', `${head}${route()}rutes: []\n`, '5:1: rutes: is not known; did you mean routes?'],
    ['no version', route().replace('  - ', 'routes:\n  - '), /version: must be 1/],
    [
      'a built-in product that does not exist',
      'version: 1\nbuiltin: [wether]\n',
      /^2:11: builtin\[0\]: must be one of crypto, .*, or { name, price, off }$/,
    ],
    [
      'a built-in product with an unknown member',
      'version: 1\nbuiltin: [{ name: pdf, prise: 1 }]\n',
      '2:24: builtin[0].prise: is not known; did you mean price?',
    ],
    [
      'a built-in product that is listed twice',
      'version: 1\nbuiltin: [pdf, { name: pdf, price: 1 }]\n',
      /^2:16: builtin\[1\]: pdf is listed twice; remove one entry$/,
    ],
    [
      'a built-in product that is listed twice, with another between',
      'version: 1\nbuiltin: [pdf, crypto, pdf]\n',
      /^2:24: builtin\[2\]: pdf is listed twice; remove one entry$/,
    ],
    ['no routes', 'version: 1\n', /^1:1: routes: sells nothing; add a route$/],
    [
      'an upstream that does not exist',
      head + route().replace('upstream: a', 'upstream: b'),
      /upstream: "b" is not known; did you mean a\?/,
    ],
    [
      'a fixed query that an order could repeat',
      head + route(', parameters: { properties: { m: { type: string } } }').replace('/x, price', '"/x?m=small", price'),
      /to: fixes m, which is also a parameter/,
    ],
    [
      'a {name} without a parameter',
      head + route().replace('/x, price', '"/x/{id}", price'),
      /to: names \{id\}, which is not a parameter; the parameters are none/,
    ],
    [
      'a price by use of two kinds',
      head + used('{ per_million_bytes: 1, rows: /a, per_row: "0.001" }'),
      /use: must have one of: input_per_million and output_per_million; per_million_bytes; rows and per_row$/,
    ],
    [
      'a price by use without its second part',
      head + used('{ rows: /a }'),
      /^4:77: routes\[0\].price.use: must have one of/,
    ],
    [
      'a price by use with an unknown member',
      head + used('{ inputPerMillion: 3 }'),
      /^4:79: routes\[0\].price.use.inputPerMillion: is not known; use input_per_million, output_per_million/,
    ],
    ['a price by use of nothing', head + used('{ per_million_bytes: 0 }'), /use: costs nothing; raise a price/],
    [
      'a minimum above the price',
      head + used('{ per_million_bytes: 1, minimum: "0.02" }'),
      /use.minimum: is more than the price of a request, 0.01; lower it, or raise `usd`$/,
    ],
    [
      'a row that costs more than the price',
      head + used('{ rows: /a, per_row: "0.02" }'),
      /use: costs more for one unit than the price of a request, 0.01; lower it, or raise `usd`$/,
    ],
    [
      'tokens without a JSON body',
      head + used('{ input_per_million: 1, output_per_million: 1 }'),
      /use: counts tokens, which needs a JSON body as OpenAI names it and JSON answers; use `per_million_bytes` or `rows`$/,
    ],
    [
      'bytes in an envelope',
      head + used('{ per_million_bytes: 1 }', ', answer: envelope'),
      /use: counts bytes, which needs an answer `as_is` of an API$/,
    ],
    [
      'rows of a stream',
      head + used('{ rows: /a, per_row: "0.001" }', ', stream: passthrough'),
      /use: counts rows, which needs whole JSON answers; remove `stream`, or name JSON types only$/,
    ],
    [
      'a price by use next to a quantity',
      head +
        route(
          ', parameters: { required: [n], properties: { n: { type: integer, minimum: 1, maximum: 2 } } }, example: { n: 1 }',
        ).replace('"0.01" }', '"0.01", per: /n, use: { per_million_bytes: 1 } }'),
      /use: cannot be used with `per`; remove one of them$/,
    ],
    [
      'a price by use of a value without a price',
      head + byModel('{ small: { per_million_bytes: 1 }, lage: { per_million_bytes: 1 } }'),
      /use.lage: is not a value that `usd` lists; did you mean large\?$/,
    ],
    [
      'prices by use of two units',
      head + byModel('{ small: { per_million_bytes: 1 }, large: { rows: /a, per_row: "0.001" } }'),
      /use.large: counts other units than small; count the same units for all values$/,
    ],
    [
      'prices by use of rows at two places',
      head + byModel('{ small: { rows: /a, per_row: "0.001" }, large: { rows: /b, per_row: "0.001" } }'),
      /use.large: counts other units than small; count the same units for all values$/,
    ],
    ['two routes for one path', head + route() + route(), /^5:13: routes\[1\].path: is sold by an earlier route/],
    [
      'two routes for one path with different names',
      head +
        ['a', 'b']
          .map((name) =>
            route(
              `, parameters: { required: [${name}], properties: { ${name}: {} } }, example: { ${name}: 1 }`,
            ).replace('path: /x', `path: "/x/{${name}}"`),
          )
          .join(''),
      /^5:13: routes\[1\].path: is sold by an earlier route/,
    ],
    [
      'an example that is not one segment of the path',
      head +
        route(', parameters: { required: [id], properties: { id: { type: string } } }, example: { id: a/b }').replace(
          '/x, price',
          '"/x/{id}", price',
        ),
      /example: has id, which is not one segment of a path$/,
    ],
    ['a path of the service', head + route().replace('path: /x', 'path: /docs/x'), /path: belongs to the service/],
    [
      'a timeout that is as long as that of handlers',
      head + route(', timeout: 30s'),
      /timeout: has a timeout of 30000 ms, but HANDLER_TIMEOUT_MS/,
    ],
    [
      'a schema with an unknown keyword',
      head + route(', parameters: { propertys: {} }'),
      /parameters: is not valid JSON Schema 2020-12: .*propertys/,
    ],
    [
      'a schema with a wrong value',
      head + route(', parameters: { properties: { a: { type: strin } } }'),
      /parameters: is not valid JSON Schema/,
    ],
    [
      'a schema of another host',
      head + route(', parameters: { $ref: "http://x.example/a.json" }'),
      /parameters: refers to http:\/\/x.example\/a.json; references lead into/,
    ],
    [
      'a schema that refers to itself',
      head + route(', parameters: { properties: { a: { $ref: "#" } } }'),
      /parameters: refers to itself: #/,
    ],
    [
      'a schema of a file that does not exist',
      head + route(', parameters: { $ref: ./none.json }'),
      /parameters: refers to .\/none.json, which cannot be read/,
    ],
    [
      'a regular expression',
      head + route(', parameters: { properties: { a: { type: string, pattern: "(a+)+" } } }'),
      /properties.a.pattern: is a regular expression, which is not supported/,
    ],
    [
      'an example that the schema refuses',
      head + route(', parameters: { required: [a], properties: { a: { type: string } } }'),
      /example: must be an order that the parameters allow: must have required property 'a'/,
    ],
    ['a large body', head + route(', body: { max: 17MiB }'), /body.max: must be at most 16MiB/],
    ['an alias bomb', `version: 1\nupstreams: &a [x]\nroutes: [*a, *a]\n`, /upstreams: /],
  ]
  test('`pattern` may be the name of a parameter, and of a member of a value', () => {
    const names = '{ pattern: { type: string }, patternProperties: { default: { pattern: "(a+)+" } } }'
    expect(mistakesIn(head + route(`, parameters: { properties: ${names} }`)).join()).not.toContain(
      'regular expression',
    )
  })

  test.each(cases)('%s', (_name, text, expected) => {
    const found = mistakesIn(text)
    if (typeof expected === 'string') expect(found).toContain(expected)
    else expect(found).toContainEqual(expect.stringMatching(expected))
  })
})

describe('a price', () => {
  const priced = (price: string, schema: string, more = '') =>
    `${head}  - { path: /x, summary: X, upstream: a, to: /x, price: ${price}, parameters: ${schema}${more} }\n`
  const models = '{ required: [m], properties: { m: { enum: [small, large] } } }'
  const counted = '{ required: [n], properties: { n: { type: integer, minimum: 1, maximum: 3 } } }'

  test('by value has one entry for each value', () => {
    const text = priced('{ by: /m, usd: { small: "0.002", large: 0.03 } }', models, ', example: { m: small }')
    const prices = read(text).routes[0]?.prices
    expect(prices?.variants).toEqual([
      { name: 'small', priceMicroUsd: 2_000n },
      { name: 'large', priceMicroUsd: 30_000n },
    ])
    expect([prices?.priceMicroUsd, prices?.variantOf({ m: 'small' })]).toEqual([30_000n, 'small'])
  })

  test('by quantity has one entry for each quantity', () => {
    const text = priced('{ usd: "0.0001", per: /n }', counted, ', example: { n: 1 }')
    const prices = read(text).routes[0]?.prices
    expect(prices?.variants).toEqual([1, 2, 3].map((n) => ({ name: `n=${n}`, priceMicroUsd: BigInt(n) * 100n })))
    expect(prices?.variantOf({ n: 3 })).toBe('n=3')
  })

  test('by quantity counts the items of an array', () => {
    const schema =
      '{ required: [n], properties: { n: { type: array, minItems: 1, maxItems: 2, items: { type: string } } } }'
    expect(
      read(priced('{ usd: "0.1", per: /n }', schema, ', example: { n: [a] }')).routes[0]?.prices.variantOf({
        n: ['a', 'b'],
      }),
    ).toBe('n=2')
  })

  const wrong: readonly [string, string, string, RegExp][] = [
    [
      'a value that the schema does not allow',
      '{ by: /m, usd: { small: "1", large: "1", huge: "1" } }',
      models,
      /price.usd.huge: is not a value that the parameters allow; they allow small, large/,
    ],
    ['a value without a price', '{ by: /m, usd: { small: "1" } }', models, /price.usd: has no price for large/],
    [
      'a parameter without a list of values',
      '{ by: /m, usd: { small: "1" } }',
      '{ required: [m], properties: { m: { type: string } } }',
      /price.by: names a parameter without an `enum`/,
    ],
    [
      'a parameter that may be absent',
      '{ by: /m, usd: { small: "1" } }',
      '{ properties: { m: { enum: [small] } } }',
      /price.by: names a parameter that an order can leave out/,
    ],
    [
      'a required parameter inside of one that may be absent',
      '{ by: /o/m, usd: { small: "1" } }',
      '{ properties: { o: { type: object, required: [m], properties: { m: { enum: [small] } } } } }',
      /price.by: names a parameter that an order can leave out/,
    ],
    [
      'a parameter that does not exist',
      '{ by: /k, usd: { small: "1" } }',
      models,
      /price.by: names \/k, which is not among/,
    ],
    [
      'a cheap price for all other texts, which the API may read as an expensive one',
      '{ by: /m, usd: { small: "1" }, otherwise: "0.5" }',
      '{ required: [m], properties: { m: { type: string } } }',
      /price.otherwise: is lower than a listed price/,
    ],
    [
      'a cheap price for orders without the parameter, for which the API may have an expensive default',
      '{ by: /m, usd: { small: "1" }, otherwise: "0.5" }',
      '{ properties: { m: { enum: [small, large] } } }',
      /price.otherwise: is lower than a listed price/,
    ],
    [
      'prices by value without the parameter',
      '{ usd: { small: "1" } }',
      models,
      /price.usd: has prices by value, so `by` must name/,
    ],
    [
      'a quantity without an end',
      '{ usd: "1", per: /n }',
      '{ required: [n], properties: { n: { type: integer, minimum: 1 } } }',
      /price.per: must name an integer with `minimum` and `maximum`/,
    ],
    [
      'a quantity of nothing',
      '{ usd: "1", per: /n }',
      '{ required: [n], properties: { n: { type: integer, minimum: 0, maximum: 3 } } }',
      /price.per: names a quantity that can be 0/,
    ],
    [
      'a quantity beyond the prices',
      '{ usd: "1", per: /n, max: 2 }',
      counted,
      /price.per: names a parameter that allows 1 to 3, but the prices are for 1 to 2/,
    ],
    [
      'too many quantities',
      '{ usd: "0.01", per: /n }',
      counted.replace('maximum: 3', 'maximum: 201'),
      /price.per: names a quantity with more than 200 values/,
    ],
  ]
  test.each(wrong)('with %s is a mistake', (_name, price, schema, expected) => {
    expect(mistakesIn(priced(price, schema))).toContainEqual(expect.stringMatching(expected))
  })
})
