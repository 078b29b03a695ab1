import { appendFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isRefusal } from '@tollbook/core/refusal'
import { readSponsored } from '../../src/chain/sponsoredTransaction.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openSigner, type SignerOptions } from '../../src/signer/openSigner.ts'
import { createSignerClient } from '../../src/signer/signerClient.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { signPayment, sponsoredWallets } from './sponsoredPayment.ts'

const wallets = sponsoredWallets()
const { feePayer, terms } = wallets
const feeLamports = 10_001
const allowed = 10

async function optionsIn(directory: string): Promise<SignerOptions> {
  return {
    clock: systemClock,
    log: silentLog,
    socketPath: `${directory}/signer.sock`,
    journalFile: `${directory}/journal`,
    key: signerKey(feePayer),
    terms,
    limits: { perDay: allowed * feeLamports, perWalletAndDay: 1e9, perPayment: 20_000 },
  }
}

function newPayment() {
  const policy = { ...terms, feePayer: addressOf(feePayer.publicKey.toBase58()) }
  const sponsored = readSponsored(signPayment(wallets), policy)
  assert(typeof sponsored === 'object', 'a payment of the stock client is sponsored')
  return sponsored
}

test('64 callers at the socket get no more signatures than the budget allows, also after a restart', async () => {
  const options = await optionsIn(await makeScratchDirectory())
  const signer = await openSigner(options)
  const budgets: object[] = []
  const client = createSignerClient({ ...options, clock: systemClock, onBudget: (day) => budgets.push(day) })
  expect(await client.standing()).toEqual({ address: signer.address, whyClosed: undefined })
  expect(budgets).toEqual([{ lamports: options.limits.perDay, leftLamports: options.limits.perDay }])
  const payments = Array.from({ length: 64 }, newPayment)
  const answers = await Promise.all(payments.map((payment) => client.sign(payment)))
  const signed = payments.filter((_payment, index) => !isRefusal(answers[index]))
  expect(signed).toHaveLength(allowed)
  expect(answers.filter(isRefusal).map(({ code }) => code)).toEqual(Array(54).fill('ENDPOINT_UNAVAILABLE'))
  await signer.close()
  await expect(client.sign(newPayment())).rejects.toThrow(Fault)

  // A line that a crash has cut off was never answered.
  await appendFile(options.journalFile, '{"atMs":')
  const restarted = await openSigner(options)
  expect(await client.sign(newPayment())).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE' })
  for (const payment of signed) expect(await client.find(payment.digest)).toBe(await client.sign(payment))
  expect(await client.find('0'.repeat(64))).toBeUndefined()
  await restarted.close()
})

test('a fee above the limit of one payment is refused for good, because no repetition can be signed', async () => {
  const options = await optionsIn(await makeScratchDirectory())
  const signer = await openSigner({ ...options, limits: { ...options.limits, perPayment: feeLamports - 1 } })
  const client = createSignerClient({ ...options, clock: systemClock })
  const refusal = await client.sign(newPayment())
  expect(refusal).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'not_sponsored' })
  expect(refusal).toHaveProperty('message', expect.stringContaining(`${feeLamports} lamports`))
  expect(refusal).not.toHaveProperty('retryAfterSeconds')
  await signer.close()
})

test('the socket is for its owner and group, and one signer holds it', async () => {
  const options = await optionsIn(await makeScratchDirectory())
  const signer = await openSigner(options)
  expect((await stat(options.socketPath)).mode & 0o777).toBe(0o660)
  await expect(openSigner(options)).rejects.toThrow('another signer listens')
  await signer.close()
})

test('of several signers that start at once one signs, the others say why not, and its budget survives a restart', async () => {
  const options = await optionsIn(await makeScratchDirectory())
  const starts = await Promise.allSettled(Array.from({ length: 4 }, () => openSigner(options)))
  const reasons = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []))
  expect(reasons).toEqual(Array(3).fill(expect.stringContaining('another signer listens')))
  const client = createSignerClient({ ...options, clock: systemClock })
  const payment = newPayment()
  const signature = await client.sign(payment)
  for (const start of starts) if (start.status === 'fulfilled') await start.value.close()

  const restarted = await openSigner(options)
  expect(await client.find(payment.digest)).toBe(signature)
  await restarted.close()
})

test('a damaged journal stops the signer, because its budget is not known', async () => {
  const options = await optionsIn(await makeScratchDirectory())
  await appendFile(options.journalFile, 'nonsense\n')
  await expect(openSigner(options)).rejects.toThrow('damaged in line 1')
  await expect(stat(options.socketPath), 'and leaves no socket').rejects.toThrow('ENOENT')
})
