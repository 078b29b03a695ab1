import { type RequestListener, createServer } from 'node:http'
import { expect, test } from 'vitest'
import { afterFile } from './afterFile.ts'
import { dockerAnswers } from './dockerEngine.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'

const scratch = await makeScratchDirectory()

test('an engine that answers a ping is there', async () => {
  const host = await serve('well', (_request, response) => response.end('OK'))
  expect(await dockerAnswers({ DOCKER_HOST: host })).toBe(true)
})

test('a socket without a listener costs two seconds and does not hold the test run', async () => {
  const host = await serve('hung', () => undefined)
  expect(await dockerAnswers({ DOCKER_HOST: host })).toBe(false)
})

test('a broken engine or a missing socket does not count as an engine', async () => {
  const broken = await serve('broken', (_request, response) => response.writeHead(500).end())
  expect(await dockerAnswers({ DOCKER_HOST: broken })).toBe(false)
  expect(await dockerAnswers({ DOCKER_HOST: `unix://${scratch}/nothing` })).toBe(false)
})

/** A server on a Unix socket, as the value of DOCKER_HOST. */
async function serve(name: string, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(`${scratch}/${name}`, resolve))
  afterFile(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `unix://${scratch}/${name}`
}
