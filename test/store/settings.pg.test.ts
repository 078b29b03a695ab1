import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { assertPresent } from '@tollbook/core/assert'
import { everyWallet } from '../../src/settings/walletSettings.ts'
import { settingItem } from '../../src/store/settingStore.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { sampleAddress } from './samplePayment.ts'

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

test('the service records the first value of a setting, and none after it', async () => {
  const { serviceUrl } = await createTestDatabase()
  const { kernel, settings } = await openInstance(serviceUrl)
  await settings.record([wallet])
  await settings.record([{ ...wallet, value: 'another' }])
  const versions = (await settings.versions(['payment-wallet', 'split'])).get('payment-wallet') ?? []
  expect(versions.map(({ event }) => event)).toMatchObject([{ number: 1, value: wallet.value }])
  const [first] = versions
  const event = { ...assertPresent(first, 'it is on record').event, number: 2 }
  const change = { step: 'setting.change', name: 'payment-wallet', number: 2, events: [event] } as const
  expect(await kernel.append(settingItem(change, 0))).toMatchObject({ refusal: { reason: 'not_this_step' } })
})

test('the wallets on record are found with those of all dollars, and without other settings', async () => {
  const { serviceUrl } = await createTestDatabase()
  const { settings } = await openInstance(serviceUrl)
  const [one, two] = [sampleAddress(), sampleAddress()]
  const wallets = ['payment-wallet', `payment-wallet/${one}`, `payment-wallet/${two}`, 'tab-wallet']
  await settings.record([...wallets.map((name) => ({ name, value: wallet.value })), split])
  const recorded = [...(await settings.versions(everyWallet)).values()].flat()
  expect(recorded.map(({ event }) => event.name).toSorted()).toEqual(wallets.toSorted())
})
