import { describe, expect, test } from 'vitest'
import type { DistributionPaid } from '../../src/payment/events/payoutEvents.ts'
import { signatureOf, streamIdOf, transactionReference } from '../../src/payment/paymentReference.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { assertPresent } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'
import { silentLog } from '../../src/machine/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { land, mustFind, newCustomer, sendAndConfirm, withheld } from '../chain/chainFixture.ts'
import { memo, transferOf } from '../chain/fixtureTokens.ts'
import { balances, onChain, pay, serve, transferFrom } from '../jobs/lifecycleFixture.ts'
import { openSessions } from '../store/instance.ts'
import { sampleSettlement } from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeDebts, openPayoutFixture, openPayoutWith, planAll, sendPart, tokensOf } from './payoutFixture.ts'

function signatureIn({ reference }: Settlement): Signature {
  return assertPresent(signatureOf(reference), 'a payment has a signature')
}

describe.each(['SPL Token', 'Token-2022 with a transfer fee'] as const)('with a mint of %s', async (kind) => {
  const environment = await openPayoutFixture(kind)
  const { fixture, payout, destinations, database } = environment
  const { price } = fixture
  const provider = assertPresent(destinations.get('provider'), 'the provider has a wallet')

  test('every debt is paid out in parts, each recorded once, and the ledger equals the chain to the base unit', async () => {
    await makeDebts(environment)
    expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
    const plan = await planAll(environment)
    const accounts = plan.parts.flat().map(({ account }) => account.replace(/:[^:]{32,}$/, ':…'))
    expect(accounts).toEqual([
      'Liabilities:Share:holders',
      'Liabilities:Share:provider',
      'Liabilities:Share:treasury',
      'Liabilities:Overpaid:…',
      'Liabilities:RefundsDue:…',
      'Liabilities:Unmatched:…',
    ])
    expect(await payout.openParts(plan)).toEqual([1, 2])

    // Partly paid: the first part is on chain and in the ledger, the second is not.
    const first = await sendPart(environment, plan, 1)
    expect(await payout.openParts(plan), 'a part that is on chain is not sent again').toEqual([2])
    await expect(planAll(environment), 'no new plan while a payout is not in the ledger').rejects.toThrow(first)
    const recorded = await payout.record(plan, first)
    expect(await payout.record(plan, first), 'recording again is harmless').toEqual(recorded)
    const [payoutOnRecord] = await environment.ledger.kernel.read(streamIdOf(transactionReference(first)))
    expect(payoutOnRecord?.effectiveAtMs, 'the time of its block').toBe(
      (await mustFind(fixture.reader, first)).blockTimeMs,
    )
    const between = await balances(environment)
    expect(between['Assets:PaymentWallet']).toBe(await onChain(environment))
    const rest = (plan.parts[1] ?? []).map(({ account }) => account)
    expect(Object.keys(between).filter((account) => account.startsWith('Liabilities:'))).toEqual(rest)

    await payout.record(plan, await sendPart(environment, plan, 2))
    const after = await balances(environment)
    expect(Object.keys(after).filter((account) => account.startsWith('Liabilities:'))).toEqual([])
    expect(await onChain(environment)).toBe(0n)
    expect(after['Assets:PaymentWallet']).toBeUndefined()
    const shares = (price.shares[0]?.baseUnits ?? 0n) * 2n
    expect(await tokensOf(environment, provider)).toBe(shares - withheld(fixture, shares))
    expect(await payout.plan({ destinations, leastBaseUnits: 0n })).toEqual({ plan: undefined, waiting: [] })
    expect(await payout.openParts(plan)).toEqual([])
  })

  test('what does not pay a part of the plan exactly is not recorded', async () => {
    const { settlement } = await pay(environment)
    await serve(environment, settlement)
    const plan = await planAll(environment)
    const wallet = fixture.paymentWallet
    const receiver = { address: wallet.publicKey, account: fixture.paymentAccount, keypair: wallet }
    const before = await balances(environment)
    const attempts: readonly (readonly [string, RegExp, Parameters<typeof land>[1]])[] = [
      ['no memo', /memo does not name/, transferFrom(fixture, receiver, 1n)],
      ['memo of another plan', /memo does not name/, [memo('tollbook-payout:payout_0:1')]],
      [
        'less than planned',
        /as planned|does not move/,
        [memo(`tollbook-payout:${plan.id}:1`), ...transferFrom(fixture, receiver, 1n)],
      ],
      ['nothing', /does not move/, [memo(`tollbook-payout:${plan.id}:1`)]],
    ]
    for (const [what, why, instructions] of attempts) {
      const signature = await land(fixture, instructions, [wallet])
      await expect(payout.record(plan, signature), what).rejects.toThrow(why)
    }
    await expect(payout.record(plan, signatureIn(settlement)), 'a payment').rejects.toThrow(/memo does not name/)
    expect(await balances(environment)).toEqual(before)
  })

  test('a sender who writes our memo into another payment does not block a payout', async () => {
    const { settlement } = await pay(environment)
    await serve(environment, settlement)
    const stranger = await newCustomer(fixture)
    const sendWith = (text: string) =>
      land(fixture, [transferOf(fixture, stranger, { send: 1n }), memo(text)], [stranger.keypair])
    await sendWith('tollbook-payout:payout_0:1')
    const plan = await planAll(environment)
    await sendWith(`tollbook-payout:${plan.id}:1`)
    expect(await payout.openParts(plan)).toEqual(plan.parts.map((_, index) => index + 1))
  })

  test('of payouts of the same debt that are recorded at once the ledger takes one, and pays no more than is owed', async () => {
    const { settlement } = await pay(environment)
    await serve(environment, settlement)
    const owed = -((await balances(environment))['Liabilities:Share:provider'] ?? 0n)
    expect(owed).toBeGreaterThan(0n)
    const sessions = [1, 2].map(() => {
      const session = openDatabase({
        databaseUrl: environment.payoutUrl,
        applicationName: 'racing session',
        connectionsMax: 4,
        log: silentLog,
      })
      afterFile(() => session.destroy())
      return session
    })
    const payouts = Array.from({ length: 8 }, (_, index): DistributionPaid => {
      const signature = signatureIn(sampleSettlement())
      const payments = [{ account: 'Liabilities:Share:provider', wallet: provider, paidBaseUnits: owed }]
      return {
        kind: 'DistributionPaid',
        signature,
        planId: `payout_${index}`,
        part: 1,
        mint: price.mint,
        slot: 1,
        payments,
      }
    })
    const outcomes = await Promise.all(
      payouts.map((event, index) => {
        const session = sessions[index % 2]
        if (session === undefined) throw new Error('there are two sessions')
        return recordPayout(session, event, Date.now())
      }),
    )
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'more_than_owed'),
      'recorded',
    ])
    expect((await balances(environment))['Liabilities:Share:provider']).toBeUndefined()
  })

  test('a payout that the only node hides is not paid again', async () => {
    const { settlement } = await pay(environment)
    await serve(environment, settlement)
    fixture.chain.advanceSlots(32)
    const alone = await openPayoutWith(environment, [fixture.chain.rpcUrl])
    const plan = await planAll(environment)
    const { payout: built } = await alone.prepare(plan, 1, fixture.terms.paymentWallet)
    const { transaction: unsigned, lastValidBlockHeight } = assertPresent(built, 'the part can be paid')
    const signed = { part: 1, ...alone.sign(unsigned, [fixture.paymentWallet]), lastValidBlockHeight }
    await alone.recordSignedPart(plan, signed)
    const landed = await sendAndConfirm(fixture, signed.transaction)
    // More slots than the transaction could land in.
    fixture.chain.advanceSlots(600)
    fixture.chain.setNode(0, { newestState: true, hide: [landed] })

    await expect(alone.openParts(plan)).rejects.toThrow(/one node alone says that .* never landed.*second node/)

    expect(await payout.openParts(plan), 'the second node shows it').toEqual([])
    fixture.chain.setNode(0, { newestState: true })
    await payout.record(plan, landed)
  })

  test('the service cannot record a payout, and the payer of payouts can do nothing else', async () => {
    const [service, session] = [openSessions(database.serviceUrl), openSessions(environment.payoutUrl)]
    const body = `'\\x7b7d'::bytea`
    await expect(service.query(`select * from ledger.record_payout(${body})`)).rejects.toMatchObject({ code: '42501' })
    await expect(session.query(`select * from ledger.record_payout(${body})`)).rejects.toMatchObject({ code: '23514' })
    for (const statement of [
      'select ledger.add_partitions()',
      'insert into ledger.settings select * from ledger.settings',
      'update ledger.accounts set balance = 0',
      'select * from ledger.notes',
    ]) {
      await expect(session.query(statement), statement).rejects.toMatchObject({ code: '42501' })
    }
    const { rows } = await session.query<{ name: string }>(`
      select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('ledger', 'paywall', 'news') and has_schema_privilege(n.oid, 'usage')
        and has_function_privilege(p.oid, 'execute')`)
    expect(rows.map(({ name }) => name).toSorted()).toEqual(['record_holder_payout', 'record_payout'])
  })
})
