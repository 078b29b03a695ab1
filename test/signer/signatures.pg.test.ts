import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Keypair } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { signatureOfBytes } from '@tollbook/core/signature'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { unknownPayment } from '../../src/payment/payment.ts'
import { decideSubmit } from '../../src/payment/submission.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openTestSignatures } from '../support/signatureStore.ts'
import { openPool } from '../kernel/openKernel.ts'
import { openInstance } from '../store/instance.ts'
import { claimOf, sampleSettlement } from '../store/samplePayment.ts'

const fee = 10_000n
const generous = { perDayLamports: 100_000_000n, perWalletAndDayLamports: 100_000_000n }
const rich = 10n ** 12n

async function openJournal(limits = generous) {
  const database = await createTestDatabase()
  const journal = await openTestSignatures(database)
  const query = (text: string, values: readonly unknown[] = []) =>
    withAdminSession(database.adminUrl, async (admin) => (await admin.query(text, [...values])).rows)
  const sign = async (signing: ReturnType<typeof newSigning>, heldBaseUnits = rich, of = limits) => {
    const { asOf } = await journal.find(signing)
    return journal.record(signing, { heldBaseUnits, asOf }, of)
  }
  const { payments } = await openInstance(database.serviceUrl)
  /** As the service does when it sends the transaction. */
  const submit = ({ signature, wallet }: ReturnType<typeof newSigning>) => {
    const command = { wallet, endpoint: '/api/data/weather', quoteId: undefined, transactionBase64: 'AAAA' }
    const decision = assertPresent(decideSubmit(unknownPayment, command), 'it is new')
    return payments.append({
      reference: transactionReference(signature),
      before: unknownPayment,
      ...decision,
      nowMs: Date.now(),
    })
  }
  /** As the service does when it finds the payment on chain. */
  const claim = ({ signature, wallet }: ReturnType<typeof newSigning>) =>
    payments.append(claimOf(sampleSettlement({ reference: transactionReference(signature), wallet })).change)
  const age = (interval: string) =>
    query(`update signer.signatures set signed_at = signed_at - $1::interval, settled_at = settled_at - $1::interval`, [
      interval,
    ])
  return { database, journal, query, sign, submit, claim, age }
}

const newWallet = () => addressOf(Keypair.generate().publicKey.toBase58())

function newSigning(wallet = newWallet(), amountBaseUnits = 10n, dollar?: ReturnType<typeof newWallet>) {
  return {
    digest: randomBytes(32).toString('hex'),
    signature: assertPresent(signatureOfBytes(randomBytes(64)), 'it has 64 bytes'),
    wallet,
    amountBaseUnits,
    lamports: fee,
    ...(dollar === undefined ? {} : { dollar }),
  }
}

async function openKnownWallet() {
  const opened = await openJournal()
  const wallet = newWallet()
  const first = newSigning(wallet)
  await opened.sign(first)
  await opened.claim(first)
  return { ...opened, wallet }
}

/** Resolves when a session of the signer waits for another one, or the work has ended without that. */
async function untilBlocked(query: (text: string) => Promise<readonly unknown[]>, work: Promise<unknown>) {
  const over = new AbortController()
  const end = () => over.abort()
  work.then(end, end)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while (!over.signal.aborted && (await query(waiting)).length === 0);
}

describe('a wallet that has never paid', () => {
  test('has one unsettled payment at a time, in a race of 20 over two signers', async () => {
    const { database, journal, submit, sign } = await openJournal()
    const other = await openTestSignatures(database)
    const wallet = newWallet()
    const payments = Array.from({ length: 20 }, () => newSigning(wallet))
    const { asOf } = await journal.find(newSigning(wallet))
    const rules = await Promise.all(
      payments.map((signing, index) =>
        (index % 2 === 0 ? journal : other).record(signing, { heldBaseUnits: rich, asOf }, generous),
      ),
    )
    expect(rules.filter((rule) => rule === undefined)).toHaveLength(1)
    expect(new Set(rules)).toEqual(new Set([undefined, 'unsettled']))

    const paid = assertPresent(payments[rules.indexOf(undefined)], 'one is signed')
    await submit(paid)
    expect(await sign(newSigning(wallet))).toBe('unsettled')
  })

  test('may pay again once its payment is in the ledger, and then in parallel', async () => {
    const { wallet, sign } = await openKnownWallet()
    const rules = await Promise.all(Array.from({ length: 8 }, () => sign(newSigning(wallet))))
    expect(rules).toEqual(Array(8).fill(undefined))
  })

  test('may pay again while another session is settling its payment', async () => {
    const { database, journal, query, sign, claim } = await openJournal()
    const first = newSigning()
    await sign(first)
    await claim(first)
    const { wallet } = first
    const { asOf } = await journal.find(newSigning())
    await withAdminSession(database.adminUrl, async (admin) => {
      await admin.query('begin')
      await admin.query('select signer.settle($1)', [wallet])
      const signed = journal.record(newSigning(wallet), { heldBaseUnits: rich, asOf }, generous)
      await untilBlocked(query, signed)
      await admin.query('commit')
      expect(await signed).toBeUndefined()
    })
  })

  test('loses its allowance by a payment that does not land, and gets it back after a day', async () => {
    const { sign, age } = await openJournal()
    const wallet = newWallet()
    await sign(newSigning(wallet))
    await age('3 minutes')
    expect(await sign(newSigning(wallet))).toBe('failures')
    await age('24 hours')
    expect(await sign(newSigning(wallet))).toBeUndefined()
  })

  test('keeps its allowance by a payment that provably never lands', async () => {
    const { journal, sign } = await openJournal()
    const wallet = newWallet()
    const lost = newSigning(wallet)
    await sign(lost)
    await journal.recordOutcome(lost.digest, 'absent')
    expect(await sign(newSigning(wallet))).toBeUndefined()
  })
})

describe('the tokens of a wallet', () => {
  test('cover its unsettled payments together, in a race of 20', async () => {
    const { journal, wallet } = await openKnownWallet()
    const payments = Array.from({ length: 20 }, () => newSigning(wallet, 10n))
    const { asOf } = await journal.find(newSigning(wallet))
    const rules = await Promise.all(
      payments.map((signing) => journal.record(signing, { heldBaseUnits: 35n, asOf }, generous)),
    )
    expect(rules.filter((rule) => rule === undefined)).toHaveLength(3)
    expect(new Set(rules)).toEqual(new Set([undefined, 'promised']))
  })

  test('are free again when a payment is settled before the rehearsal, and not when it is settled during it', async () => {
    const { journal, claim, sign, wallet } = await openKnownWallet()
    const first = newSigning(wallet, 10n)
    expect(await sign(first, 10n)).toBeUndefined()
    const next = newSigning(wallet, 10n)
    const during = await journal.find(next)
    await claim(first)
    expect(await journal.record(next, { heldBaseUnits: 10n, ...during }, generous)).toBe('promised')
    expect(await sign(next, 10n)).toBeUndefined()
  })

  test('are free again when a payment has failed', async () => {
    const { journal, sign, wallet } = await openKnownWallet()
    const failed = newSigning(wallet, 10n)
    await sign(failed, 10n)
    expect(await sign(newSigning(wallet, 10n), 10n)).toBe('promised')
    await journal.recordOutcome(failed.digest, 'failed')
    expect(await sign(newSigning(wallet, 10n), 10n)).toBeUndefined()
  })
})

describe('failed payments', () => {
  test.each([
    [1, 3],
    [20, 4],
  ])('of a wallet that has paid %i times are at most %i', async (paid, allowed) => {
    const { journal, claim, sign, wallet } = await openKnownWallet()
    for (let payment = 2; payment <= paid; payment++) {
      const signing = newSigning(wallet)
      await sign(signing)
      await claim(signing)
    }
    for (let failure = 1; failure <= allowed; failure++) {
      const failing = newSigning(wallet)
      expect(await sign(failing)).toBeUndefined()
      await journal.recordOutcome(failing.digest, 'failed')
    }
    expect(await sign(newSigning(wallet))).toBe('failures')
  })

  test('of fresh wallets use up a fifth of the day, and wallets that have paid are still served', async () => {
    const limits = { ...generous, perDayLamports: 25n * fee }
    const { claim, sign, age, query } = await openJournal(limits)
    const known = newSigning()
    await sign(known)
    await claim(known)
    const rules: unknown[] = []
    for (let wallet = 1; wallet <= 7; wallet++) {
      rules.push(await sign(newSigning()))
      await age('3 minutes')
    }
    expect(rules).toEqual([...Array(5).fill(undefined), 'failuresOfAll', 'failuresOfAll'])
    expect(await sign(newSigning(known.wallet))).toBeUndefined()
    expect(await query(`select count(*)::int as failed from signer.signatures where outcome = 'failed'`)).toEqual([
      { failed: 5 },
    ])
  })

  test('of fresh wallets at the same moment are as many', async () => {
    const { journal } = await openJournal()
    const limits = { ...generous, perDayLamports: 25n * fee }
    const { asOf } = await journal.find(newSigning())
    const rules = await Promise.all(
      Array.from({ length: 20 }, () => journal.record(newSigning(), { heldBaseUnits: rich, asOf }, limits)),
    )
    expect(rules.filter((rule) => rule === undefined)).toHaveLength(5)
    expect(new Set(rules)).toEqual(new Set([undefined, 'failuresOfAll']))
  })

  test('count as paid when the ledger gets the payment late', async () => {
    const { claim, sign, age } = await openJournal()
    const late = newSigning()
    await sign(late)
    await age('3 minutes')
    expect(await sign(newSigning(late.wallet))).toBe('failures')
    await claim(late)
    expect(await sign(newSigning(late.wallet))).toBeUndefined()
  })
})

test('unsettled payments in a dollar leave the tokens of the wallet free, and the other way round', async () => {
  const { sign, wallet } = await openKnownWallet()
  const dollar = newWallet()
  const inDollars = () => newSigning(wallet, 10n, dollar)
  expect(await sign(newSigning(wallet), 10n)).toBeUndefined()
  expect(await sign(inDollars(), 10n)).toBeUndefined()
  expect(await sign(inDollars(), 19n)).toBe('promised')
  expect(await sign(newSigning(wallet), 19n)).toBe('promised')
  expect(await sign(newSigning(wallet), 20n)).toBeUndefined()
})

describe('the budget', () => {
  test.each(['perDay', 'perWalletAndDay'] as const)('%s holds in a race of 64 over two signers', async (limited) => {
    const { database, journal, wallet } = await openKnownWallet()
    const other = await openTestSignatures(database)
    const { asOf } = await journal.find(newSigning(wallet))
    const limits = { ...generous, [`${limited}Lamports`]: 11n * fee }
    const rules = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        (index % 2 === 0 ? journal : other).record(newSigning(wallet), { heldBaseUnits: rich, asOf }, limits),
      ),
    )
    expect(rules.filter((rule) => rule === undefined)).toHaveLength(10)
    expect(new Set(rules)).toEqual(new Set([undefined, limited]))
    expect(await journal.spentToday()).toBe(11n * fee)
  })

  test('is charged once for one message, which two signers may sign at the same moment', async () => {
    const { database, journal } = await openJournal()
    const other = await openTestSignatures(database)
    const signing = newSigning()
    const { asOf } = await journal.find(signing)
    const rules = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        (index % 2 === 0 ? journal : other).record(signing, { heldBaseUnits: rich, asOf }, generous),
      ),
    )
    expect(rules).toEqual(Array(16).fill(undefined))
    expect(await journal.spentToday()).toBe(fee)
    expect(await other.find(signing)).toMatchObject({ signature: signing.signature })
  })

  test('of a day is not opened again by a clock that is set back at midnight, nor closed permanently by one that was years ahead', async () => {
    const limits = { ...generous, perDayLamports: fee }
    const { sign, query, journal, age } = await openJournal(limits)
    const today = `(clock_timestamp() at time zone 'utc')::date`
    await sign(newSigning())
    await query(`update signer.days set day = ${today} + 1`)
    expect(await sign(newSigning())).toBe('perDay')
    expect(await journal.spentToday()).toBe(fee)
    await query(`update signer.days set day = ${today} + 4000`)
    expect(await journal.spentToday()).toBe(0n)
    await age('24 hours')
    expect(await sign(newSigning())).toBeUndefined()
  })
})

test('the login of the signer may call its functions and nothing else, and the service none of them', async () => {
  const { database } = await openJournal()
  const signer = openPool(await makeMemberLogin(database.adminUrl, 'tollbook_signer'))
  const service = openPool(database.serviceUrl)
  const denied = { code: '42501' }
  for (const text of [
    'select from signer.signatures',
    `insert into signer.days (day, lamports) values ('2026-01-01', 0)`,
    'select signer.settle(null)',
    'select from ledger.events',
    'select from ledger.quotes',
  ])
    await expect(signer.query(text), text).rejects.toMatchObject(denied)
  await expect(service.query('select signer.spent_today()')).rejects.toMatchObject(denied)
  expect((await signer.query('select signer.spent_today()')).rows).toHaveLength(1)
})
