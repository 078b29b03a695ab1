import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRouter, refusePath, type Route } from '../../src/transport/routes.ts'
import { listen, type Listener } from '../../src/transport/server.ts'
import { systemClock } from '@tollbook/core/clock'
import { rawRequest } from './rawRequest.ts'

const served: string[] = []
/** The route that metrics count each request under. */
const counted: unknown[] = []
const route = (path: string, methods: readonly string[]): Route => ({
  path,
  methods,
  serve: (context, segments) => {
    const segment = segments.join(' ')
    served.push(`${path} ${segment}`)
    context.body = segment
    return Promise.resolve()
  },
})

let listener: Listener

beforeAll(async () => {
  const app = new Koa()
  const routes = [route('/paid', ['GET']), route('/free', ['GET', 'HEAD']), route('/post', ['POST'])]
  const open = [route('/many/*path', ['GET', 'HEAD']), route('/one/:name', ['GET', 'HEAD'])]
  const sold = [route('/one/{a}/of/{b}', ['GET']), route('/one/exact', ['GET']), route('/many/{a}', ['GET'])]
  app.use(async (context, next) => {
    await next()
    counted.push(context.state['route'])
  })
  app.use(createRouter([...open, ...sold, ...routes, route('/{a}/b/of/c', ['GET'])]))
  app.use(refusePath)
  listener = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
})
afterAll(() => listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 }))

const ask = (method: string, target: string) => rawRequest(listener.port, { method, target })

describe('a path', () => {
  test.each(['/Free', '/free/', '/fre', '/free/more', '//free', '/%66ree', '/one', '/one/', '/one/a/b', '/many/', '/'])(
    '%s does not exist, because paths are exact',
    async (target) => {
      expect(await ask('GET', target)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    },
  )

  test.each([
    ['/one/a%2Fb', 'a%2Fb'],
    ['/one/..', '..'],
    ['/one/%00%zz', '%00%zz'],
    ['/many/a/b', 'a/b'],
    ['/one/a%2fb/of/..', 'a%2fb ..'],
    ['/one/b/of/c', 'b c'],
    ['/two/b/of/c', 'two'],
    ['http://localhost/one/a%2Fb?c/d', 'a%2Fb'],
  ])('%s hands over %s as it was sent', async (target, segment) => {
    expect(await ask('GET', target)).toMatchObject({ status: 200, text: segment })
  })
})

test('an exact path wins over a pattern, and one segment over many', async () => {
  served.length = 0
  for (const target of ['/one/exact', '/one/other', '/many/a', '/many/a/b']) await ask('GET', target)
  expect(served).toEqual(['/one/exact ', '/one/:name other', '/many/{a} a', '/many/*path a/b'])
})

test('two routes of one path are a bug', () => {
  expect(() => createRouter([route('/one/:name', []), route('/one/{id}', [])])).toThrow('/one/{id} is served once')
  expect(() => createRouter([route('/one', []), route('/one', [])])).toThrow('/one is served once')
})

describe('a method', () => {
  test.each([
    ['HEAD', '/paid', 'GET'],
    ['POST', '/paid', 'GET'],
    ['HEAD', '/post', 'POST'],
    ['GET', '/post', 'POST'],
    ['PURGE', '/free', 'GET, HEAD'],
    ['TRACE', '/one/a', 'GET, HEAD'],
  ])('%s %s is not served and Allow says %s', async (method, target, allow) => {
    const before = served.length
    expect(await ask(method, target)).toMatchObject({ status: 405, headers: { allow } })
    expect(served).toHaveLength(before)
    expect(counted.at(-1)).toBe(target === '/one/a' ? '/one/:name' : target)
  })

  test('HEAD is served where it is free', async () => {
    expect(await ask('HEAD', '/free')).toMatchObject({ status: 200, text: '' })
  })

  test('OPTIONS is answered with Allow', async () => {
    expect(await ask('OPTIONS', '/paid')).toMatchObject({ status: 204, headers: { allow: 'GET' } })
  })
})
