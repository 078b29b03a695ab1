import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/primitives/log.ts'
import { createSettingStore } from '../../src/store/settingStore.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'

const wallet = { name: 'payment-wallet', value: 'A49WZKxeih54nXzPtAez9tQmdAveq7jtxk1EtcW85seq' }
const split = { name: 'split', value: [{ account: 'provider', perMille: 1_000 }] }

test('instances that start together record each setting once, with the moment from which it holds', async () => {
  const { serviceUrl } = await createTestDatabase()
  const instances = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl)])
  const startedAtMs = systemClock.nowMs()
  await Promise.all(instances.map(({ settings }) => settings.record([wallet, split])))
  for (const { settings } of instances) {
    const found = await settings.find('payment-wallet', systemClock.nowMs())
    expect(found).toMatchObject({ kind: 'SettingChanged', name: 'payment-wallet', number: 1, value: wallet.value })
    expect(Date.parse(found?.validFrom ?? '')).toBeGreaterThanOrEqual(startedAtMs)
  }
  expect(await instances[0]?.settings.find('split', 0), 'the first value holds before its time too').toMatchObject(
    split,
  )
  expect(await instances[0]?.settings.find('no-such', systemClock.nowMs())).toBeUndefined()
})

test('a setting of a mint has the address in its name', async () => {
  const { serviceUrl } = await createTestDatabase()
  const { settings } = await openInstance(serviceUrl)
  const mint = { name: `mint/${wallet.value}`, value: { decimals: 6 } }
  await settings.record([mint])
  expect(await settings.find(mint.name, systemClock.nowMs())).toMatchObject(mint)
})

test('a value that differs from the one on record is reported and changes nothing', async () => {
  const { serviceUrl } = await createTestDatabase()
  const { database, kernel, settings } = await openInstance(serviceUrl)
  await settings.record([wallet])
  const warnings: object[] = []
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) }
  const again = createSettingStore({ database, kernel, log, nowMs: () => systemClock.nowMs() })
  await again.record([wallet])
  expect(warnings).toEqual([])
  await again.record([{ ...wallet, value: 'another' }])
  expect(warnings).toEqual([
    { event: 'setting_differs', name: 'payment-wallet', recorded: wallet.value, configured: 'another' },
  ])
  expect(await settings.find('payment-wallet', systemClock.nowMs())).toMatchObject({ number: 1, value: wallet.value })
})
