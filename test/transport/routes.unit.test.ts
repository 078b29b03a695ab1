import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRouter, refusePath, type Route } from '../../src/transport/routes.ts'
import { listen, type Listener } from '../../src/transport/server.ts'
import { systemClock } from '@tollbook/core/clock'
import { rawRequest } from './rawRequest.ts'

const served: string[] = []
const route = (path: string, methods: readonly string[]): Route => ({
  path,
  methods,
  serve: (context, segment) => {
    served.push(`${path} ${segment}`)
    context.body = segment
    return Promise.resolve()
  },
})

let listener: Listener

beforeAll(async () => {
  const app = new Koa()
  const routes = [route('/paid', ['GET']), route('/free', ['GET', 'HEAD']), route('/post', ['POST'])]
  app.use(createRouter([...routes, route('/one/:name', ['GET', 'HEAD']), route('/many/*path', ['GET', 'HEAD'])]))
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
  ])('%s hands over %s as it was sent', async (target, segment) => {
    expect(await ask('GET', target)).toMatchObject({ status: 200, text: segment })
  })
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
  })

  test('HEAD is served where it is free', async () => {
    expect(await ask('HEAD', '/free')).toMatchObject({ status: 200, text: '' })
  })

  test('OPTIONS is answered with Allow', async () => {
    expect(await ask('OPTIONS', '/paid')).toMatchObject({ status: 204, headers: { allow: 'GET' } })
  })
})
