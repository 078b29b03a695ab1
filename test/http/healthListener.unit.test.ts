import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { openHealthListener } from '../../src/http/healthListener.ts'
import { jsonAnswer } from '../../src/paywall/answer.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'

const loopback = ['127.0.0.0/8']

async function openListener({ stuckAfterMs = 60_000, metricsSubnets = loopback } = {}) {
  let ready = jsonAnswer(200, '{"status":"ready"}')
  let scrapes = 0
  const listener = await openHealthListener(
    { host: '127.0.0.1', port: 0, metricsSubnets, stuckAfterMs },
    {
      log: silentLog,
      readiness: () => ready,
      metrics: () => Promise.resolve({ status: 200, headers: {}, body: `scrapes ${scrapes++}\n` }),
    },
  )
  afterFile(() => listener.close())
  return {
    ...listener,
    baseUrl: `http://127.0.0.1:${listener.port}`,
    becomes: (answer: typeof ready) => void (ready = answer),
  }
}

const metricsOf = async (baseUrl: string) => (await fetch(`${baseUrl}/metrics`)).text()

/** Runs a program while the event loop of this process, which is that of the service, stands still. */
function whileStuck(program: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  expect(stderr).toBe('')
  return stdout
}

test('health checks and metrics are answered while the event loop of the service stands still', async () => {
  const { baseUrl } = await openListener()
  const answered = whileStuck(`
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const answer = await fetch('${baseUrl}' + path)
      console.log(answer.status, await answer.text())
    }`)
  const lines = answered.trim().split('\n')
  expect(lines.slice(0, 2)).toEqual(['200 {"status":"alive"}', '200 {"status":"ready"}'])
  expect(lines[2]).toBe('200 scrapes 0')
  const age = Number(/^tollbook_metrics_age_seconds (\S+)$/m.exec(answered)?.[1])
  expect(age).toBeGreaterThan(0)
})

test('an event loop that stands still for too long is reported as stuck, and as alive when it turns again', async () => {
  const { baseUrl, report } = await openListener({ stuckAfterMs: 300 })
  const answered = whileStuck(`
    let answer
    do answer = await fetch('${baseUrl}/livez')
    while (answer.status === 200)
    const ready = await fetch('${baseUrl}/readyz')
    console.log(answer.status, await answer.text(), ready.status, await ready.text())`)
  expect(answered).toMatch(
    /^503 \{"status":"stuck","silentMs":\d+\} 503 \{"status":"not ready","failing":\["event_loop"\]\}/,
  )
  report()
  await awaitThat('it is alive', async () => (await fetch(`${baseUrl}/livez`)).status === 200)
})

test('the newest readiness and metrics of the service are answered', async () => {
  const { baseUrl, report, becomes } = await openListener()
  becomes(jsonAnswer(503, '{"status":"not ready"}'))
  report()
  await awaitThat('it is not ready', async () => (await fetch(`${baseUrl}/readyz`)).status === 503)
  // The age is that of the newest ones that came within 50 ms.
  await awaitThat('metrics are new', async () => !(await metricsOf(baseUrl)).includes('scrapes 0\n'))
})

test('nothing but health checks is served, and only to those who may read it', async () => {
  const { baseUrl } = await openListener({ metricsSubnets: ['192.0.2.0/24'] })
  const statusOf = async (path: string, method = 'GET') => (await fetch(`${baseUrl}${path}`, { method })).status
  expect(await Promise.all(['/', '/metrics', '/api/health', '/livez?verbose'].map((path) => statusOf(path)))).toEqual([
    404, 404, 404, 200,
  ])
  expect([await statusOf('/readyz', 'HEAD'), await statusOf('/readyz', 'POST')]).toEqual([200, 405])
})

test('a port that is in use is refused with its number', async () => {
  const { port } = await openListener()
  const again = openHealthListener(
    { host: '127.0.0.1', port, metricsSubnets: [] },
    {
      log: silentLog,
      readiness: () => jsonAnswer(200, ''),
      metrics: () => Promise.resolve(jsonAnswer(200, '')),
    },
  )
  await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`)
})
