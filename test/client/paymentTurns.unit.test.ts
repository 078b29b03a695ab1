import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { systemClock } from '@tollbook/core/clock'
import { createPaymentTurns } from '@tollbook/client/paymentTurns'
import { createReceiptWatch } from '@tollbook/client/receiptWatch'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { receiptEventOf } from './support/scriptedService.ts'
import { storedPayment } from './support/storedPayment.ts'

const signature = encodeBase58(new Uint8Array(64).fill(7))
const payment = { ...storedPayment, signature }

test('a turn gets no payment that was answered before the wait, and removes it when no process waits', async () => {
  const folder = join(await makeScratchDirectory(), 'turns')
  await mkdir(folder)
  const earlier = join(folder, `order.${signature}.answered`)
  await writeFile(earlier, JSON.stringify(payment))
  const turns = createPaymentTurns(folder, systemClock)
  const { answered, end } = await turns.take('order', new AbortController().signal)
  expect(answered).toEqual([])
  await end()
  expect(await readdir(folder)).toEqual([])
})

test('a process that waits gets the payment that was answered meanwhile', async () => {
  const folder = await makeScratchDirectory()
  const turns = createPaymentTurns(folder, systemClock)
  const first = await turns.take('order', AbortSignal.timeout(5_000))
  const second = turns.take('order', AbortSignal.timeout(5_000))
  await awaitThat('the second one waits', async () => (await readdir(folder)).some((name) => name.endsWith('.wait')))
  const path = join(folder, 'payment.json')
  await writeFile(path, JSON.stringify(payment))
  expect(await turns.leave('order', { path, signature })).toBe(true)
  await first.end()
  const { answered, end } = await second
  expect(answered).toEqual([payment])
  await end()
  expect(await readdir(folder)).toEqual([])
})

test('a process that cannot read what was left for it gives up its turn', async () => {
  const folder = join(await makeScratchDirectory(), 'turns')
  const turns = createPaymentTurns(folder, systemClock)
  const within = () => AbortSignal.timeout(5_000)
  const first = await turns.take('order', within())
  const second = turns.take('order', within())
  await awaitThat('the second one waits', async () => (await readdir(folder)).some((name) => name.endsWith('.wait')))
  const unreadable = join(folder, `order.${signature}.answered`)
  await mkdir(unreadable)
  await first.end()
  await expect(second).rejects.toThrow('EISDIR')
  await rmdir(unreadable)
  const third = await turns.take('order', within())
  await third.end()
  expect(await readdir(folder)).toEqual([])
})

test('an answered payment is left for others only by the process that has the turn of its order', async () => {
  const folder = await makeScratchDirectory()
  const turns = createPaymentTurns(join(folder, 'turns'), systemClock)
  const path = join(folder, 'payment.json')
  await writeFile(path, JSON.stringify(payment))
  expect(await turns.leave('order', { path, signature })).toBe(false)
  const { end } = await turns.take('order', new AbortController().signal)
  expect(await turns.leave('other', { path, signature })).toBe(false)
  expect(await turns.leave('order', { path, signature })).toBe(true)
  expect(await turns.leave('order', { path, signature }), 'another process moved it').toBe(true)
  await end()
  expect(await turns.leave('order', { path, signature })).toBe(false)
})

test('the receipt of a stream is found in pieces of any size, and only at its end', () => {
  const stream = Buffer.from(`data: ü\n\n${receiptEventOf(signature)}`)
  for (const size of [1, 3, 7, stream.length]) {
    const watch = createReceiptWatch()
    for (let at = 0; at < stream.length; at += size) {
      expect(watch.hasReceipt()).toBe(false)
      watch.read(stream.subarray(at, at + size))
    }
    expect(watch.hasReceipt(), `pieces of ${size}`).toBe(true)
  }
})
