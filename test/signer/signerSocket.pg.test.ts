import { stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isRefusal } from '@tollbook/core/refusal'
import { readSponsored } from '../../src/chain/sponsoredTransaction.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openSigner, type SignerOptions } from '../../src/signer/openSigner.ts'
import { createSignerClient } from '../../src/signer/signerClient.ts'
import { createTestDatabase } from '../support/database.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestSignatures } from '../support/signatureStore.ts'
import { signPayment, sponsoredWallets } from './sponsoredPayment.ts'

const feeLamports = 10_001n
const allowed = 10

/** A signer for payments of many wallets, whose budget of the day is ten of them. */
async function signerOptions() {
  const wallets = Array.from({ length: 64 }, () => sponsoredWallets())
  const [first] = wallets
  assert(first !== undefined, 'there are wallets')
  const { feePayer, terms } = first
  const socketPath = `${await makeScratchDirectory()}/signer.sock`
  const options: SignerOptions & { readonly address: { readonly socketPath: string } } = {
    clock: systemClock,
    log: silentLog,
    address: { socketPath },
    journal: await openTestSignatures(await createTestDatabase()),
    key: signerKey(feePayer),
    terms,
    // New wallets may cost a fifth of it before they have paid.
    limits: {
      perDayLamports: BigInt(allowed * 5) * feeLamports,
      perWalletAndDayLamports: 10n ** 9n,
      perPaymentLamports: 20_000n,
    },
  }
  const newPayment = (wallet = sponsoredWallets()) => {
    const policy = { ...terms, feePayer: addressOf(feePayer.publicKey.toBase58()) }
    const sponsored = readSponsored(signPayment({ ...first, payer: wallet.payer }), policy)
    assert(typeof sponsored === 'object', 'a payment of the stock client is sponsored')
    return sponsored
  }
  return { options, newPayment }
}

const heldBaseUnits = 10n ** 12n

test('64 callers at the socket get no more signatures than the budget allows, also after a restart', async () => {
  const { options, newPayment } = await signerOptions()
  const signer = await openSigner(options)
  const budgets: object[] = []
  const client = createSignerClient({ ...options, clock: systemClock, onBudget: (day) => budgets.push(day) })
  expect(await client.standing()).toEqual({ address: signer.address, whyClosed: undefined })
  expect(budgets).toEqual([{ lamports: options.limits.perDayLamports, leftLamports: options.limits.perDayLamports }])
  const payments = Array.from({ length: 64 }, () => newPayment())
  const ask = async (payment: ReturnType<typeof newPayment>) => {
    const { asOf } = await client.find(payment)
    return client.sign(payment, { heldBaseUnits, asOf })
  }
  const answers = await Promise.all(payments.map(ask))
  const signed = payments.filter((_payment, index) => !isRefusal(answers[index]))
  expect(signed).toHaveLength(allowed)
  expect(answers.filter(isRefusal).map(({ code }) => code)).toEqual(Array(54).fill('ENDPOINT_UNAVAILABLE'))
  await signer.close()
  await expect(ask(newPayment())).rejects.toThrow(Fault)

  const restarted = await openSigner(options)
  expect(await ask(newPayment())).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE' })
  for (const payment of signed) expect((await client.find(payment)).signature).toBe(await ask(payment))
  expect((await client.find(newPayment())).signature).toBeUndefined()
  await restarted.close()
})

test('a fee above the limit of one payment is refused for good, because no repetition can be signed', async () => {
  const { options, newPayment } = await signerOptions()
  const signer = await openSigner({ ...options, limits: { ...options.limits, perPaymentLamports: feeLamports - 1n } })
  const client = createSignerClient({ ...options, clock: systemClock })
  const payment = newPayment()
  const refusal = await client.sign(payment, { heldBaseUnits, ...(await client.find(payment)) })
  expect(refusal).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'not_sponsored' })
  expect(refusal).toHaveProperty('message', expect.stringContaining(`${feeLamports} lamports`))
  expect(refusal).not.toHaveProperty('retryAfterSeconds')
  await signer.close()
})

test('the socket is for its owner and group, and one signer holds it', async () => {
  const { options } = await signerOptions()
  const signer = await openSigner(options)
  expect((await stat(options.address.socketPath)).mode & 0o777).toBe(0o660)
  await expect(openSigner(options)).rejects.toThrow('another signer listens')
  await signer.close()
})

test('of several signers that start at once on one socket one signs, and the others say why not', async () => {
  const { options } = await signerOptions()
  const starts = await Promise.allSettled(Array.from({ length: 4 }, () => openSigner(options)))
  const reasons = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []))
  expect(reasons).toEqual(Array(3).fill(expect.stringContaining('another signer listens')))
  for (const start of starts) if (start.status === 'fulfilled') await start.value.close()
})

test('a signer whose budget of the day is used up says so, and one without its database is closed', async () => {
  const { options, newPayment } = await signerOptions()
  const limits = { ...options.limits, perDayLamports: feeLamports }
  const signer = await openSigner({ ...options, limits })
  const client = createSignerClient({ ...options, clock: systemClock })
  const payment = newPayment()
  await client.sign(payment, { heldBaseUnits, ...(await client.find(payment)) })
  expect(await client.standing()).toMatchObject({ whyClosed: "the signer's budget of this day is used up" })
  await signer.close()

  const fault = () => Promise.reject(new Fault('the ledger could not be read', { retryable: true }))
  const without = await openSigner({ ...options, journal: { ...options.journal, spentToday: fault, find: fault } })
  const other = createSignerClient({ ...options, clock: systemClock })
  expect(await other.standing()).toMatchObject({ whyClosed: 'the journal of the signer cannot be read' })
  await expect(other.find(payment)).rejects.toThrow(Fault)
  await without.close()
})
