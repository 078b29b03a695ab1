/** Meaning of an order: the product that it buys, and the parameters that reach its handler. */
export interface Meaning {
  readonly product: string
  readonly parameters: Readonly<Record<string, string>>
}

/** A request as bytes, and its only permitted meaning. Undefined: it must be refused before a price is asked. */
export interface SpelledRequest {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes, each as one character. */
  readonly body?: string
  readonly meaning: Meaning | undefined
}

const item = 'GET /toy/items/{id}'
const json = { 'content-type': 'application/json' }

interface Seed {
  readonly method: string
  readonly path: string
  readonly product: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly parameters: Readonly<Record<string, string>>
}

/** One plain request for each seeded product. */
const seeds: readonly Seed[] = [
  { method: 'GET', path: '/toy/items/42', product: item, parameters: { id: '42' } },
  { method: 'GET', path: '/toy/items/new', product: 'GET /toy/items/new', parameters: {} },
  { method: 'DELETE', path: '/toy/notes/7', product: 'DELETE /toy/notes/{id}', parameters: { id: '7' } },
  {
    method: 'PUT',
    path: '/toy/notes/7/text',
    product: 'PUT /toy/notes/{id}/text',
    headers: json,
    body: '{"text":"hi"}',
    parameters: { id: '7', text: 'hi' },
  },
  {
    method: 'PATCH',
    path: '/toy/tags/a/of/7',
    product: 'PATCH /toy/tags/{tag}/of/{id}',
    headers: json,
    body: '{"color":"red"}',
    parameters: { tag: 'a', id: '7', color: 'red' },
  },
  {
    method: 'POST',
    path: '/toy/pictures/cat',
    product: 'POST /toy/pictures/{name}',
    headers: { 'content-type': 'image/png' },
    body: 'picture',
    parameters: { name: 'cat' },
  },
  { method: 'GET', path: '/toy/forecast', product: 'GET /toy/forecast', parameters: {} },
]

/** Segments as sent, with the value that each means. Undefined: another program could read it as something else. */
const segments: readonly (readonly [sent: string, value?: string])[] = [
  ['42', '42'],
  ['%34%32', '42'],
  ['4%32', '42'],
  ['a%20b', 'a b'],
  ['a+b', 'a+b'],
  ['a%2Bb', 'a+b'],
  ['a,b', 'a,b'],
  ['%7Bid%7D', '{id}'],
  [':id', ':id'],
  ['*', '*'],
  ['~root', '~root'],
  ['a=b&c', 'a=b&c'],
  ['%26%3D', '&='],
  ['%3F', '?'],
  ['a%23b', 'a#b'],
  ['%3B', ';'],
  ['$(id)', '$(id)'],
  ["'or'1'='1", "'or'1'='1"],
  ['%22', '"'],
  ['Z%C3%BCrich', 'Zürich'],
  ['%F0%9F%9A%80', '🚀'],
  ['%EF%BC%8E%EF%BC%8E', '．．'],
  ['...', '...'],
  ['.a', '.a'],
  ['a.', 'a.'],
  ['NEW', 'NEW'],
  ['new%20'],
  ['news', 'news'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['null', 'null'],
  ['-1', '-1'],
  ['1e3', '1e3'],
  ['%25', '%'],
  ['100%25', '100%'],
  ['x'.repeat(40), 'x'.repeat(40)],
  [''],
  ['.'],
  ['..'],
  ['%2e'],
  ['%2E%2E'],
  ['.%2e'],
  ['%2e.'],
  ['%2F'],
  ['%2f42'],
  ['42%2F'],
  ['42%2F..%2Fnew'],
  ['..%2Fnew'],
  ['%5C'],
  ['42%5c..%5cnew'],
  ['42\\..\\new'],
  ['%00'],
  ['42%00'],
  ['42%00.json'],
  ['%0A'],
  ['42%0d%0aX: 1'.replaceAll(' ', '%20')],
  ['%7F'],
  ['%C2%80'],
  ['%E2%80'],
  ['%80'],
  ['%FF'],
  ['%C0%AF'],
  ['%C0%AE%C0%AE'],
  ['%E0%80%AF'],
  ['%ED%A0%80'],
  ['%F4%90%80%80'],
  ['%'],
  ['%4'],
  ['%zz'],
  ['%u002f'],
  ['%252F'],
  ['%252e%252e'],
  ['%2541'],
  ['%25%32%46'],
  ['42;v=1'],
  [';'],
  ['42;/..'],
  ['a"b'],
  ['<b>'],
  ['a^b'],
  ['a`b'],
  ['a|b'],
  ['{id}'],
  ['[1]'],
  ['x'.repeat(41)],
  ['x'.repeat(2_000)],
  ['42/'],
  ['42//'],
  ['/42'],
  ['42/.'],
  ['42/..'],
  ['./42'],
  ['../42'],
  ['../../api/health'],
  ['..;/42'],
  ['%20/42'],
  ['42/new'],
]

/** Spellings of one segment in each path that has one. */
function segmentSpellings(): readonly SpelledRequest[] {
  return segments.flatMap(([sent, value]) => {
    const spelled = (index: number, path: string, name: string): SpelledRequest => {
      const { product, parameters, path: _path, ...seed } = seedAt(index)
      const meaning = value === undefined ? undefined : { product, parameters: { ...parameters, [name]: value } }
      return { ...seed, target: path, meaning }
    }
    return [
      spelled(0, `/toy/items/${sent}`, 'id'),
      spelled(3, `/toy/notes/${sent}/text`, 'id'),
      spelled(4, `/toy/tags/${sent}/of/7`, 'tag'),
    ]
  })
}

function seedAt(index: number): Seed {
  const seed = seeds[index]
  if (seed === undefined) throw new Error(`there is no seed ${index}`)
  return seed
}

const hex = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** Other writings of the literal parts of a path. Only the whole URL means the same. */
function pathSpellings(): readonly SpelledRequest[] {
  return seeds.flatMap(({ path, product, parameters, ...seed }) => {
    const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
    const at = (index: number, text: string) => path.slice(0, index) + text + path.slice(index + 1)
    const hostile = [
      `${path}/`,
      `${path}//`,
      `${path}%20`,
      `${path}%00/x`,
      `${path}/.`,
      `${path}/..`,
      `${path}/%2e%2e`,
      `${path}/../${path.slice(path.lastIndexOf('/') + 1)}`,
      `/${path}`,
      `/.${path}`,
      `/..${path}`,
      `/x/..${path}`,
      `/%2e${path}`,
      `/x402/x402${path}`,
      `/pay/..${path}`,
      path.slice(1),
      path.replace('/toy', '/TOY'),
      path.replace('/toy', '/Toy'),
      path.replace('/toy', '/toy;a=b'),
      path.replace('/toy', '/to%79'),
      path.replace('/toy', '/%74oy'),
      path.replace('/toy', '\\toy'),
      path.replace('/toy', '/toy.'),
      path.replace('/toy', '/to\u200by').replace('\u200b', '%E2%80%8B'),
      path.replace('/toy', '/ｔoy').replace('ｔ', '%EF%BD%94'),
      ...slashes.flatMap((index) => [
        at(index, '//'),
        at(index, '%2F'),
        at(index, '%2f'),
        at(index, '\\'),
        at(index, '%5C'),
      ]),
      ...slashes.slice(1).flatMap((index) => [at(index, '/./'), at(index, ';/'), at(index, '%00/')]),
      ...[2, 3].map((index) => at(index, hex(path.charAt(index)))),
    ]
    const same = [`http://127.0.0.1${path}`, `HTTP://any.example:80${path}`]
    return [
      ...hostile.map((target) => ({ ...seed, target, meaning: undefined })),
      ...same.map((target) => ({ ...seed, target, meaning: { product, parameters } })),
      { ...seed, target: `http://user@127.0.0.1${path}`, meaning: undefined },
    ]
  })
}

const otherMethods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PURGE',
  'get',
  'QUERY',
  'PROPFIND',
]

function methodSpellings(): readonly SpelledRequest[] {
  return seeds.flatMap(({ path: target, product, parameters, ...seed }) => [
    ...otherMethods
      .filter((method) => method !== seed.method)
      .map((method) => ({ ...seed, method, target, meaning: undefined })),
    // A header does not change the method.
    {
      ...seed,
      target,
      headers: { ...seed.headers, 'x-http-method-override': 'DELETE', 'x-original-url': '/toy/items/new' },
      meaning: { product, parameters },
    },
  ])
}

/** Spellings of the query of `GET /toy/items/{id}`, with the size that each means. */
const queries: readonly (readonly [query: string, parameters?: Readonly<Record<string, string>>])[] = [
  ['', {}],
  ['&', {}],
  ['&&size=s&', { size: 's' }],
  ['size=%73', { size: 's' }],
  ['%73ize=s', { size: 's' }],
  ['size=l', { size: 'l' }],
  ['size=s&size=s'],
  ['size=s&size=l'],
  ['size=s&%73ize=l'],
  ['size[]=s'],
  ['size=s;size=l'],
  ['SIZE=s'],
  ['size=S'],
  ['size='],
  ['size'],
  ['size=s%00'],
  ['size=s%20'],
  ['size=+s'],
  ['size=s#'],
  ['size=%ff'],
  ['size=%'],
  ['size.x=s'],
  ['=s'],
  ['x=1'],
  ['__proto__=s'],
  ['constructor=s'],
  ['id=42'],
  ['id=43'],
  ['%69d=43'],
  ['id=43&size=s'],
  ['size=s?x=1'],
  ['size=["s"]'],
  ['size=s,l'],
  ['size=ｓ'.replace('ｓ', '%EF%BD%93')],
]

function querySpellings(): readonly SpelledRequest[] {
  return queries.map(([query, size]) => ({
    method: 'GET',
    target: `/toy/items/42?${query}`,
    meaning: size === undefined ? undefined : { product: item, parameters: { id: '42', ...size } },
  }))
}

/** Spellings of the body of `PUT /toy/notes/{id}/text`, with the text that each means. */
const bodies: readonly (readonly [body: string, type: string, text?: string])[] = [
  ['{"text":"hi"}', 'application/json', 'hi'],
  [' {\n"text" : "hi" }\n', 'application/json; charset=utf-8', 'hi'],
  ['{"\\u0074ext":"hi"}', 'Application/JSON', 'hi'],
  ['{"text":"\\u0068i"}', 'application/json', 'hi'],
  ['{"text":"hi","text":"ho"}', 'application/json'],
  ['{"text":"hi","\\u0074ext":"ho"}', 'application/json'],
  ['{"text":"hi","id":"8"}', 'application/json'],
  ['{"id":"8","text":"hi"}', 'application/json'],
  ['{"text":"hi","__proto__":{"id":"8"}}', 'application/json'],
  ['{"text":"hi","x":1}', 'application/json'],
  ['{"Text":"hi"}', 'application/json'],
  ['{"text":1}', 'application/json'],
  ['{"text":null}', 'application/json'],
  ['{"text":["hi"]}', 'application/json'],
  ['[{"text":"hi"}]', 'application/json'],
  ['"hi"', 'application/json'],
  ['null', 'application/json'],
  ['', 'application/json'],
  ['{"text":"hi"', 'application/json'],
  ['{"text":"hi"}{}', 'application/json'],
  ["{'text':'hi'}", 'application/json'],
  ['{"text":"hi",}', 'application/json'],
  ['{"text":"hi"}', 'text/plain'],
  ['{"text":"hi"}', 'application/json; charset=utf-16'],
  ['{"text":"hi"}', 'application/merge-patch+json'],
  ['text=hi', 'application/x-www-form-urlencoded'],
  ['{"text":"hi"}', ''],
  ['\xef\xbb\xbf{"text":"hi"}', 'application/json'],
  ['{"text":"\xff"}', 'application/json'],
]

function bodySpellings(): readonly SpelledRequest[] {
  const request = { method: 'PUT', target: '/toy/notes/7/text' }
  const spelled = bodies.map(([body, type, text]) => ({
    ...request,
    body,
    headers: type === '' ? {} : { 'content-type': type },
    meaning: text === undefined ? undefined : { product: 'PUT /toy/notes/{id}/text', parameters: { id: '7', text } },
  }))
  const framed: readonly Readonly<Record<string, string>>[] = [
    { 'content-encoding': 'gzip' },
    { 'transfer-encoding': 'gzip, chunked' },
    { 'transfer-encoding': 'chunked', 'content-length': '13' },
    { 'content-length': '+13' },
  ]
  const wrong = framed.map((headers) => ({
    ...request,
    body: '{"text":"hi"}',
    headers: { ...json, ...headers },
    meaning: undefined,
  }))
  const stray: SpelledRequest[] = [
    { ...request, target: '/toy/notes/7/text?id=8', body: '{"text":"hi"}', headers: json, meaning: undefined },
    { ...request, target: '/toy/notes/7/text?text=ho', body: '{"text":"hi"}', headers: json, meaning: undefined },
    { method: 'DELETE', target: '/toy/notes/7', body: '{"id":"8"}', headers: json, meaning: undefined },
    {
      method: 'POST',
      target: '/toy/pictures/cat?name=dog',
      body: 'x',
      headers: { 'content-type': 'image/png' },
      meaning: undefined,
    },
    { method: 'POST', target: '/toy/pictures/cat', body: '{}', headers: json, meaning: undefined },
  ]
  return [...spelled, ...wrong, ...stray]
}

/** All requests of the proof. `/toy/items/%6eew` would be the path of another product once it is decoded. */
export function spelledRequests(): readonly SpelledRequest[] {
  const otherProducts = ['%6eew', 'ne%77', '%6e%65%77'].map((sent) => ({
    method: 'GET',
    target: `/toy/items/${sent}`,
    meaning: undefined,
  }))
  return [
    ...segmentSpellings(),
    ...otherProducts,
    ...pathSpellings(),
    ...methodSpellings(),
    ...querySpellings(),
    ...bodySpellings(),
  ]
}
