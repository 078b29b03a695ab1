import { expect, test } from 'vitest'
import { createHealth } from '../../src/start/jobs/health.ts'
import type { HealthCheck } from '../../src/transport/freeRoute.ts'

const problems = new Map<string, string>()
const checkOf = (name: string, more: Partial<HealthCheck> = {}): HealthCheck => {
  return { name, problem: () => problems.get(name), ...more }
}
const open = (...checks: readonly HealthCheck[]) => {
  problems.clear()
  return createHealth(checks)
}

test('paid requests are refused for a problem of every product, and not for one of quotes or of some products', () => {
  const health = open(
    checkOf('price', { quotesOnly: true }),
    checkOf('dollars', { someProductsOnly: true }),
    checkOf('ledger'),
    checkOf('seal'),
  )
  problems.set('price', 'no price').set('dollars', 'no dollars')
  expect(health.whyClosed()).toBeUndefined()
  problems.set('seal', 'not sealed')
  expect(health.whyClosed()).toBe('not sealed')
  problems.set('ledger', 'no ledger')
  expect(health.whyClosed()).toBe('no ledger')
})

test('a service that shuts down says so before any other problem', () => {
  const health = open(checkOf('ledger'))
  problems.set('ledger', 'no ledger')
  expect(health.isDraining()).toBe(false)
  health.startDraining()
  expect([health.isDraining(), health.whyClosed()]).toEqual([true, 'the server is shutting down'])
})

test('a check is mute while a cause of it fails, and names that cause', () => {
  const { checks } = open(checkOf('history'), checkOf('ledger'), checkOf('settings', { causes: ['history', 'ledger'] }))
  const settings = checks.find(({ name }) => name === 'settings')
  problems.set('settings', 'not read for 45 s')
  expect([settings?.problem(), settings?.mutedBy?.()]).toEqual(['not read for 45 s', undefined])
  problems.set('ledger', 'no ledger')
  expect([settings?.problem(), settings?.mutedBy?.()]).toEqual([undefined, 'ledger'])
})
