import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/machine/log.ts'
import { openArtifacts } from '../../src/start/goods/openArtifacts.ts'
import { listenOnLoopback } from '../support/loopbackServer.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('a closed bucket has no open connection', async () => {
  const lists: (string | undefined)[] = []
  const server = createServer((request, response) => {
    lists.push(request.url)
    response.writeHead(200, { 'content-type': 'application/xml' }).end('<ListBucketResult></ListBucketResult>')
  })
  // The server would otherwise close the connection itself.
  server.keepAliveTimeout = 0
  const closed = Promise.withResolvers<void>()
  server.on('connection', (socket) => socket.once('close', closed.resolve))
  const s3 = { bucket: 'bucket', region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret' }
  const config = { s3: { ...s3, endpoint: await listenOnLoopback(server) }, totalBytesMax: 1_000 }
  const artifacts = await openArtifacts(config, { clock: steppedClock(), log: silentLog })
  await artifacts.close()
  await closed.promise
  expect(lists.length).toBeGreaterThan(0)
})
