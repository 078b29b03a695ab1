import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readCheckpoint } from '@tollbook/core/checkpoint'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { createArtifactStore } from '../../src/rendering/artifacts/artifactStore.ts'
import { openDiskStorage } from '../../src/rendering/artifacts/diskStorage.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { ask, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService
let artifact: string
let sealedSize: number
const picture = Buffer.from(Array.from({ length: 5_000 }, (_, place) => place % 251))

beforeAll(async () => {
  const directory = await makeScratchDirectory()
  service = await openTestService({ env: { ARTIFACT_DIR: directory } })
  const storage = await openDiskStorage({ directory, nowMs: systemClock.nowMs })
  const store = createArtifactStore({
    clock: systemClock,
    log: silentLog,
    storage,
    ttlMs: 600_000,
    totalBytesMax: 1_000_000_000,
  })
  artifact = `/artifacts/${(await store.keep('image/png', picture)).name}`
  const { receipt } = await buy(service)
  await awaitThat('the sale is sealed', async () => {
    const checkpoint = readCheckpoint((await get('/api/ledger/checkpoint')).body.toString())
    sealedSize = checkpoint?.size ?? 0
    return sealedSize >= receipt.ledger.position
  })
})

interface Wire {
  readonly status: number
  readonly headers: Record<string, unknown>
  /** As it came over the wire, in its coding. */
  readonly body: Buffer
}

/** Without a client that negotiates, decodes or caches by itself. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Wire> {
  return new Promise((resolve, reject) => {
    request(`${service.baseUrl}${path}`, { method, headers, agent: false }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      )
    })
      .on('error', reject)
      .end()
  })
}

const tagOf = ({ headers }: Wire) =>
  z
    .string()
    .regex(/^"[\w.-]+"$/)
    .parse(headers['etag'])
const paths = [
  '/openapi.json',
  '/api/catalog',
  '/.well-known/x402',
  '/llms.txt',
  '/docs',
  '/page/style.css',
  '/burn',
  '/page/burn.js',
  '/api/ledger/key',
  '/api/ledger/inclusion/1?treeSize=SEALED',
  '/api/ledger/consistency/1-2',
  '/tile/0/000.p/1',
  '/.well-known/jwks.json',
]

describe.each(paths)('%s', (path) => {
  const read = (headers: Record<string, string> = {}, method = 'GET') => get(atSealedSize(path), headers, method)

  test('has a strong entity tag, and is 304 for a client that has it', async () => {
    const first = await read()
    expect([first.status, first.headers['cache-control']]).not.toContain('no-store')
    const tag = tagOf(first)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await read({ 'if-none-match': known })
      expect([known, again.status, again.body.length]).toEqual([known, 304, 0])
      expect(again.headers).toMatchObject({ etag: tag, 'cache-control': first.headers['cache-control'] })
      expect(again.headers).not.toHaveProperty('content-type')
    }
    expect((await read({ 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('is one text for every Host, so that an invented name renders nothing', async () => {
    const texts = await Promise.all(['a.example', 'b.example:8080'].map((host) => read({ host })))
    expect(new Set(texts.map(tagOf)).size).toBe(1)
  })

  test('has the same headers for HEAD as for GET, with the length and without the body', async () => {
    const [whole, head] = [await read(), await read({}, 'HEAD')]
    // Each request has its time, its id and its place in the limit.
    const { date: _date, 'x-request-id': _id, ratelimit: _left, ...headers } = whole.headers
    expect(head.headers).toMatchObject(headers)
    expect([head.headers['content-length'], head.body.length]).toEqual([String(whole.body.length), 0])
  })
})

function atSealedSize(path: string): string {
  return path.replace('SEALED', String(sealedSize))
}

describe('the page at /', () => {
  const person = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('is for people only: programs get what every unknown path answers', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const { status, headers, body } = await get('/', { accept })
      expect([status, headers['vary'], JSON.parse(body.toString()).code]).toEqual([404, 'accept', 'NOT_FOUND'])
    }
    const page = await get('/', person)
    expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'accept, accept-encoding' })
    expect((await get('/', { ...person, 'if-none-match': tagOf(page) })).status).toBe(304)
  })

  test('has the prices of the price list, for people and for search engines', async () => {
    const page = (await get('/', person)).body.toString()
    const [, linkedData = ''] = /<script type="application\/ld\+json">([^<]+)<\/script>/.exec(page) ?? []
    const { products } = z
      .object({ products: z.array(z.object({ path: z.string(), priceUSD: z.number(), requiredTokens: z.number() })) })
      .parse(JSON.parse((await get('/api/catalog')).body.toString()).data)
    for (const { path, priceUSD, requiredTokens } of products) {
      expect(page).toContain(` ${path}</td>`)
      expect(page).toContain(`<strong>$${priceUSD}</strong> ${requiredTokens} tokens`)
      expect(JSON.stringify(JSON.parse(linkedData))).toContain(`"price":"${priceUSD}"`)
    }
  })
})

test('a checkpoint is 304 for a client that has it, until the next one', async () => {
  const path = '/api/ledger/checkpoint'
  await awaitThat('no event was sealed between two requests', async () => {
    const first = await get(path)
    expect(first.headers['cache-control']).toBe('no-cache')
    return (await get(path, { 'if-none-match': tagOf(first) })).status === 304
  })
})

describe('the coding of a public read', () => {
  test.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.3', 'gzip'],
    ['identity', undefined],
  ])('is what `Accept-Encoding: %s` weighs most, and each form has its own tag', async (accepted, coding) => {
    const plain = await get('/openapi.json')
    const coded = await get('/openapi.json', { 'accept-encoding': accepted })
    expect(coded.headers['content-encoding']).toBe(coding)
    expect([plain.headers['vary'], coded.headers['vary']]).toEqual(['accept-encoding', 'accept-encoding'])
    expect(tagOf(coded) === tagOf(plain)).toBe(coding === undefined)
    if (coding !== undefined) expect(coded.body.length).toBeLessThan(plain.body.length / 4)
    const decoded = await fetch(`${service.baseUrl}/openapi.json`, { headers: { 'accept-encoding': accepted } })
    expect(await decoded.text()).toBe(plain.body.toString())
    const unchanged = await get('/openapi.json', { 'accept-encoding': accepted, 'if-none-match': tagOf(coded) })
    expect(unchanged.status).toBe(304)
    expect(unchanged.headers).not.toHaveProperty('content-encoding')
  })

  test('is none for a small body, and for an answer that is sold', async () => {
    const accepted = { 'accept-encoding': 'br, gzip' }
    expect((await get('/api/ledger/key', accepted)).headers).not.toHaveProperty('content-encoding')
    const offer = await ask(service, { ...qrOrder, headers: { ...accepted, 'if-none-match': '*' } })
    expect([offer.status, offer.headers.get('content-encoding'), offer.headers.get('etag')]).toEqual([402, null, null])
    const data = { path: '/api/data/crypto?symbol=BTC', headers: { ...accepted, 'if-none-match': '*' } }
    expect((await ask(service, data)).status).not.toBe(304)
  })
})

describe('reads from memory', () => {
  test('a proof for a size that is sealed is read from the database once', async () => {
    const path = `/api/ledger/inclusion/1?treeSize=${sealedSize}`
    const first = await get(path)
    expect(first.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    await whileLocked('ledger.checkpoints', async () => {
      expect((await get(path)).body).toEqual(first.body)
    })
  })

  test('a storm on the burn statistics is one reading, which all callers get', async () => {
    const answers = await whileLocked('ledger.tallies', async (waiting) => {
      // An earlier reading is given out until it is a second old.
      await awaitThat('a reading waits for the lock', async () => {
        void get('/api/token/burn-stats').catch(() => undefined)
        return (await waiting()) > 0
      })
      const storm = Array.from({ length: 30 }, () => get('/api/token/burn-stats'))
      await get('/livez')
      expect(await waiting()).toBe(1)
      return { storm }
    })
    const bodies = (await Promise.all(answers.storm)).map(({ body }) => body.toString())
    expect(new Set(bodies).size).toBe(1)
    expect(bodies[0]).toContain('"success":true')
  })

  test('burn statistics that have not changed keep their entity tag', async () => {
    const first = await get('/api/token/burn-stats')
    expect(first.headers['cache-control']).toBe('public, max-age=1')
    expect((await get('/api/token/burn-stats', { 'if-none-match': tagOf(first) })).status).toBe(304)
  })
})

/** Holds a table until the work is done, and counts the sessions of the service that wait. */
async function whileLocked<T>(table: string, work: (waiting: () => Promise<number>) => Promise<T>): Promise<T> {
  const { adminUrl } = service.database
  return withAdminSession(adminUrl, async (holder) => {
    await holder.query(`begin; lock table ${table} in access exclusive mode`)
    return withAdminSession(adminUrl, async (watcher) => {
      const waiting = async () => {
        const { rows } = await watcher.query<{ count: number }>(
          `select count(*)::int as count from pg_locks where not granted and relation = '${table}'::regclass`,
        )
        return rows[0]?.count ?? 0
      }
      try {
        return await work(waiting)
      } finally {
        await holder.query('rollback')
      }
    })
  })
}

describe('an artifact', () => {
  const part = (range: string, more: Record<string, string> = {}) => get(artifact, { range, ...more })

  test('is sent whole with its tag, and is 304 for a client that has it', async () => {
    const whole = await get(artifact, { 'accept-encoding': 'br' })
    expect([whole.status, whole.body]).toEqual([200, picture])
    expect(whole.headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': '5000' })
    expect(whole.headers).not.toHaveProperty('content-encoding')
    const again = await get(artifact, { 'if-none-match': tagOf(whole), range: 'bytes=0-9' })
    expect([again.status, again.body.length]).toEqual([304, 0])
  })

  test.each([
    ['bytes=0-99', 0, 99],
    ['bytes=4900-', 4_900, 4_999],
    ['bytes=-10', 4_990, 4_999],
    ['bytes=4000-9000', 4_000, 4_999],
  ])('is sent in part: %s', async (range, first, last) => {
    const answer = await part(range)
    expect([answer.status, answer.body]).toEqual([206, picture.subarray(first, last + 1)])
    expect(answer.headers).toMatchObject({
      'content-range': `bytes ${first}-${last}/5000`,
      'content-length': String(last - first + 1),
    })
  })

  test('is whole for several ranges, for a range that is not well-formed, and for HEAD', async () => {
    for (const range of ['bytes=0-1,4-5', 'bytes=9-3', 'lines=1-2'])
      expect([range, (await part(range)).status]).toEqual([range, 200])
    const head = await get(artifact, { range: 'bytes=0-9' }, 'HEAD')
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '5000', 0])
  })

  test('refuses a range that begins after its end, with its size', async () => {
    const answer = await part('bytes=5000-')
    expect(answer.status).toBe(416)
    expect(answer.headers).toMatchObject({ 'content-range': 'bytes */5000', 'cache-control': 'no-store' })
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'RANGE_NOT_SATISFIABLE' })
  })

  test('If-Range with its tag gets the part, with anything else the whole', async () => {
    const tag = tagOf(await get(artifact))
    expect((await part('bytes=0-9', { 'if-range': tag })).status).toBe(206)
    for (const other of ['"other"', `W/${tag}`, 'Sun, 22 Nov 2026 10:00:00 GMT'])
      expect([other, (await part('bytes=0-9', { 'if-range': other })).status]).toEqual([other, 200])
  })
})
