import { expect, test } from 'vitest'
import { createServiceAddress } from '../../src/transport/serviceAddress.ts'
import { createStaticFile, serveStaticFile } from '../../src/transport/staticFile.ts'

test.each([
  ['127.0.0.1', 'http://127.0.0.1:80'],
  ['0.0.0.0', 'http://localhost:80'],
  ['::', 'http://localhost:80'],
  ['::1', 'http://[::1]:80'],
])('a service on %s has the address %s once it listens', (host, url) => {
  const address = createServiceAddress()
  address.configure({ publicUrl: undefined, host })
  expect(address.url()).toBe('')
  address.listensOn(80)
  expect([address.url(), address.linkBase()]).toEqual([url, ''])
  expect([address.urlFor('toll.example:8080'), address.urlFor('')]).toEqual(['http://toll.example:8080', ''])
})

test('PUBLIC_URL is the address before and after the service listens, whatever host a request has', () => {
  const address = createServiceAddress()
  address.configure({ publicUrl: 'https://toll.example', host: '::' })
  for (let n = 0; n < 2; n++) {
    expect([address.url(), address.linkBase(), address.urlFor('evil.example')]).toEqual(
      Array(3).fill('https://toll.example'),
    )
    address.listensOn(80)
  }
})

test('a file is prepared once, and again after a failure; an image is sent unchanged', async () => {
  let calls = 0
  const script = createStaticFile('text/javascript', async () => {
    if (calls++ === 0) throw new Error('the file cannot be read')
    return 'x'.repeat(2_000)
  })
  await expect(script.prepared()).rejects.toThrow('cannot be read')
  expect([...(await script.prepared()).coded.keys()]).toEqual(['br', 'gzip'])
  expect(await script.prepared()).toBe(await script.prepared())
  expect(calls).toBe(2)
  const image = createStaticFile('image/png', Buffer.alloc(2_000))
  expect((await image.prepared()).coded.size).toBe(0)
  const files = new Map([['a.png', image]])
  expect(await serveStaticFile(files, 'a.png', 'no-cache')).toMatchObject({
    status: 200,
    headers: { 'content-type': 'image/png', 'cache-control': 'no-cache' },
  })
  expect(await serveStaticFile(files, 'toString', 'no-cache')).toMatchObject({ status: 404 })
})
