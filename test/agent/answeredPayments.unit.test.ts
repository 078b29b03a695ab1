import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { randomBytesOf } from '@tollbook/core/id'
import type { PendingPayment } from '@tollbook/client'
import { openPaymentFolder } from '@tollbook/client/node'
import { keepUntilReceived } from '@tollbook/agent/wallet/answeredPayments'
import { storedPayment } from '../client/support/storedPayment.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

function payment(): PendingPayment {
  return { ...storedPayment, signature: encodeBase58(randomBytesOf(64)), signedAtMs: 1 }
}

async function open() {
  const path = join(await makeScratchDirectory(), 'payments')
  const folder = openPaymentFolder(path)
  const restart = () => keepUntilReceived(openPaymentFolder(path))
  const signatures = async (payments: Promise<readonly PendingPayment[]>) =>
    (await payments).map(({ signature }) => signature)
  return { folder, answered: keepUntilReceived(folder), restart, signatures }
}

test('an answered payment is in the folder until its answer is received, and no call takes it meanwhile', async () => {
  const { folder, answered, signatures } = await open()
  const one = payment()
  await answered.store.keep(one)
  expect(await signatures(answered.store.pending())).toEqual([one.signature])
  await answered.store.close(one, 'answered')
  expect(await signatures(folder.pending())).toEqual([one.signature])
  expect(await signatures(answered.store.pending())).toEqual([])
  await answered.received(one.signature)
  expect(await signatures(folder.pending())).toEqual([])
  expect(await answered.store.spending()).toHaveLength(1)
})

test('a wallet that was killed before the answer was received finds the payment, and closes it once it is received', async () => {
  const { answered, restart, signatures } = await open()
  const one = payment()
  await answered.store.keep(one)
  await answered.store.close(one, 'answered')
  const next = restart()
  expect(await signatures(next.store.pending())).toEqual([one.signature])
  await next.received(one.signature)
  expect(await signatures(next.store.pending())).toEqual([])
  await next.received(one.signature)
})

test('the answer of a front end that is gone is for the next equal call', async () => {
  const { answered, signatures } = await open()
  const one = payment()
  await answered.store.keep(one)
  await answered.store.close(one, 'answered')
  answered.release(one.signature)
  expect(await signatures(answered.store.pending())).toEqual([one.signature])
})

test('a payment whose answer is received during a read of the folder is not taken by the reader', async () => {
  const { folder } = await open()
  const late = Promise.withResolvers<void>()
  const answered = keepUntilReceived({
    ...folder,
    async pending() {
      const pending = await folder.pending()
      await late.promise
      return pending
    },
  })
  const one = payment()
  await answered.store.keep(one)
  await answered.store.close(one, 'answered')
  const read = answered.store.pending()
  await answered.received(one.signature)
  late.resolve()
  expect(await read).toEqual([])
})

test('the deposit of a tab is closed with its answer, because no front end waits for it', async () => {
  const { folder, answered, signatures } = await open()
  const deposit = { ...payment(), isDeposit: true as const }
  await answered.store.keep(deposit)
  await answered.store.close(deposit, 'answered')
  expect(await signatures(folder.pending())).toEqual([])
})

test('a payment that did not leave is closed at once', async () => {
  const { folder, answered, signatures } = await open()
  const [one, other] = [payment(), payment()]
  for (const each of [one, other]) await answered.store.keep(each)
  await answered.store.close(one, 'not_sent')
  await answered.store.close(other, 'refused')
  expect(await signatures(folder.pending())).toEqual([])
  expect(await answered.store.spending()).toHaveLength(1)
})
