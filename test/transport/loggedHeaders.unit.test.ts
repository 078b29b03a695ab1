import { expect, test } from 'vitest'
import { createLog } from '../../src/machine/log.ts'
import { openPlainServer } from './plainServer.ts'

test('the log of a request that broke shows no proof of any rail, and long headers are cut', async () => {
  const lines: string[] = []
  const log = createLog({
    level: 'error',
    name: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const serve = () => Promise.reject(new Error('broken'))
  const { port } = await openPlainServer({ log, freeRoutes: [{ path: '/broken', serve }] })
  const secrets = { 'test-proof': 'secret one', 'other-proof': 'secret two', authorization: 'Bearer secret' }
  const response = await fetch(`http://127.0.0.1:${port}/broken`, {
    headers: { ...secrets, 'x-long': 'x'.repeat(300) },
  })
  expect(response.status).toBe(500)
  expect(lines.join('')).toContain('request_broke')
  expect(lines.join('')).not.toMatch(/secret (one|two)|Bearer/)
  expect(lines.join('')).toContain(`"${'x'.repeat(200)}"`)
})
