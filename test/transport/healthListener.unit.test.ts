import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openHealthListener } from '../../src/transport/healthListener.ts'
import { jsonAnswer } from '../../src/paywall/answer.ts'
import { silentLog } from '../../src/machine/log.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'

const address = { host: '127.0.0.1', port: 0, metricsSubnets: ['127.0.0.0/8'] }
// Enough for a program to start and ask twice, on any machine.
const neverMs = 600_000

async function openListener(stuckAfterMs: number, more: Partial<typeof address> = {}) {
  let ready = jsonAnswer(200, '{"status":"ready"}')
  let scrapes = 0
  const listener = await openHealthListener(
    { ...address, ...more, stuckAfterMs },
    {
      log: silentLog,
      readiness: () => ready,
      metrics: () => Promise.resolve({ status: 200, headers: {}, body: `scrapes ${scrapes++}\n` }),
    },
  )
  afterFile(() => listener.close())
  const becomes = (answer: typeof ready) => {
    ready = answer
    listener.report()
  }
  return { ...listener, baseUrl: `http://127.0.0.1:${listener.port}`, becomes }
}

const { port, baseUrl, becomes } = await openListener(neverMs)
const statusOf = async (path: string, method = 'GET') => (await fetch(`${baseUrl}${path}`, { method })).status

/** Runs a program while the event loop of this process, which is that of the service, stands still. */
function whileStuck(program: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect(stderr).toBe('')
  return stdout
}

test('health checks and metrics are answered while the event loop of the service stands still', () => {
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

test('the newest readiness and metrics of the service are answered', async () => {
  becomes(jsonAnswer(503, '{"status":"not ready"}'))
  await awaitThat('it is not ready', async () => (await statusOf('/readyz')) === 503)
  // Those of the scrape before are answered when new ones take more than 50 ms.
  await awaitThat(
    'metrics are new',
    async () => !(await (await fetch(`${baseUrl}/metrics`)).text()).includes('scrapes 0\n'),
  )
  becomes(jsonAnswer(200, ''))
  await awaitThat('it is ready', async () => (await statusOf('/readyz')) === 200)
})

test('only health checks are served', async () => {
  const statuses = await Promise.all(['/', '/api/health', '/livez?verbose', '/livez/'].map((path) => statusOf(path)))
  expect(statuses).toEqual([404, 404, 200, 404])
  expect([await statusOf('/livez', 'HEAD'), await statusOf('/livez', 'POST')]).toEqual([200, 405])
})

test('metrics are hidden from addresses outside of their subnets, and health checks are not', async () => {
  const { baseUrl: url } = await openListener(neverMs, { metricsSubnets: ['10.0.0.0/8'] })
  const statuses = await Promise.all(['/metrics', '/livez'].map(async (path) => (await fetch(`${url}${path}`)).status))
  expect([...statuses, await statusOf('/metrics')]).toEqual([404, 200, 200])
})

test('at most 256 connections are open, and a health check is answered while others idle', async () => {
  const { port: flooded, baseUrl: url } = await openListener(neverMs)
  let closed = 0
  const idle = Array.from({ length: 260 }, () => connect(flooded, '127.0.0.1').on('close', () => closed++))
  for (const socket of idle) socket.on('error', () => undefined).resume()
  await awaitThat('4 connections are closed', () => closed >= 4)
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  for (const socket of idle) socket.destroy()
})

test('a port that is in use is refused with its number', async () => {
  const again = openHealthListener(
    { ...address, port },
    {
      log: silentLog,
      readiness: () => jsonAnswer(200, ''),
      metrics: () => Promise.resolve(jsonAnswer(200, '')),
    },
  )
  await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`)
})

test('an event loop that stands still for too long is reported as stuck, and as alive when it turns again', async () => {
  const short = await openListener(300)
  const answered = whileStuck(`
    let answer
    do answer = await fetch('${short.baseUrl}/livez')
    while (answer.status === 200)
    const ready = await fetch('${short.baseUrl}/readyz')
    console.log(answer.status, await answer.text(), ready.status, await ready.text())`)
  expect(answered).toMatch(
    /^503 \{"status":"stuck","silentMs":\d+\} 503 \{"status":"not ready","failing":\["event_loop"\]\}/,
  )
  short.report()
  await awaitThat('it is alive', async () => (await fetch(`${short.baseUrl}/livez`)).status === 200)
})
