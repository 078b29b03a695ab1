import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { createReload } from '../../src/start/gateway/createReload.ts'
import type { OpenGateway } from '../../src/start/gateway/openGateway.ts'

/** Routes that record the end of their connections. */
function routesThat(closed: string[], name: string, builtin: OpenGateway['builtin'] = []): OpenGateway {
  const close = () => Promise.resolve(void closed.push(name))
  return { builtin, products: [], open: () => [], close }
}

test.each([
  ['built-in products that differ', { builtin: [{ name: 'qrcode', isOff: false }] as const, serves: true }],
  ['documents that cannot be made', { builtin: [], serves: false }],
])(
  'a reload that fails by %s closes the connections that it opened, and no others',
  async (_why, { builtin, serves }) => {
    const closed: string[] = []
    const reload = createReload({
      log: silentLog,
      gateway: routesThat(closed, 'first'),
      openFile: () => routesThat(closed, 'failed', builtin),
    })
    const sell = () => (serves ? Promise.resolve() : Promise.reject(new Fault('no document', { retryable: false })))
    await reload.reload(sell)
    expect(closed).toEqual(['failed'])
    expect(reload.checks[0]?.problem()).toContain('mistakes')
    await reload.close()
    expect(closed).toEqual(['failed', 'first'])
  },
)

test('a service that closes during a reload closes the connections of the new file', async () => {
  const closed: string[] = []
  const selling = Promise.withResolvers<void>()
  const reload = createReload({
    log: silentLog,
    gateway: routesThat(closed, 'first'),
    openFile: () => routesThat(closed, 'second'),
  })
  const [reloaded, ended] = [reload.reload(() => selling.promise), reload.close()]
  selling.resolve()
  await Promise.all([reloaded, ended])
  expect(closed).toEqual(['second'])
})

test('after a reload the service closes the connections of the new file', async () => {
  const closed: string[] = []
  const reload = createReload({
    log: silentLog,
    gateway: routesThat(closed, 'first'),
    openFile: () => routesThat(closed, 'second'),
  })
  await reload.reload(() => Promise.resolve())
  expect([closed, reload.checks[0]?.problem()]).toEqual([[], undefined])
  await reload.close()
  expect(closed).toEqual(['second'])
})
