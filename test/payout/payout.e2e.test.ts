import { describe, expect, test } from 'vitest'
import type { DistributionPaid } from '../../src/payment/events/payoutEvents.ts'
import { signatureOf } from '../../src/payment/paymentReference.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { assertPresent } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'
import { silentLog } from '../../src/primitives/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { recordPayout } from '../../src/store/payoutStore.ts'
import { land, newCustomer, withheld } from '../chain/paymentLab.ts'
import { memo, transferOf } from '../chain/labTokens.ts'
import { balances, onChain, pay, serve, transferFrom } from '../jobs/lifeGround.ts'
import { openSessions } from '../store/instance.ts'
import { sampleSettlement } from '../store/samplePayment.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeDebts, openPayoutGround, planAll, sendPart, tokensOf } from './payoutGround.ts'

function signatureIn({ reference }: Settlement): Signature {
  return assertPresent(signatureOf(reference), 'a payment has a signature')
}

describe.each(['SPL Token', 'Token-2022 with a transfer fee'] as const)('with a mint of %s', async (kind) => {
  const ground = await openPayoutGround(kind)
  const { lab, payout, destinations, database } = ground
  const { price } = lab
  const provider = assertPresent(destinations.get('provider'), 'the provider has a wallet')

  test('every debt is paid out in parts, each recorded once, and the ledger equals the chain to the base unit', async () => {
    await makeDebts(ground)
    expect((await balances(ground))['Assets:PaymentWallet']).toBe(await onChain(ground))
    const plan = await planAll(ground)
    const accounts = plan.parts.flat().map(({ account }) => account.replace(/:[^:]{32,}$/, ':…'))
    expect(accounts).toEqual([
      'Liabilities:Overpaid:…',
      'Liabilities:RefundsDue:…',
      'Liabilities:Share:holders',
      'Liabilities:Share:provider',
      'Liabilities:Share:treasury',
      'Liabilities:Unmatched:…',
    ])
    expect(await payout.openParts(plan)).toEqual([1, 2])

    // Partly paid: the first part is on chain and in the ledger, the second is not.
    const first = await sendPart(ground, plan, 1)
    expect(await payout.openParts(plan), 'a part that is on chain is not sent again').toEqual([2])
    await expect(planAll(ground), 'no new plan while a payout is not in the ledger').rejects.toThrow(first)
    const recorded = await payout.record(plan, first)
    expect(await payout.record(plan, first), 'recording again is harmless').toEqual(recorded)
    const between = await balances(ground)
    expect(between['Assets:PaymentWallet']).toBe(await onChain(ground))
    const [last] = plan.parts[1] ?? []
    expect(Object.keys(between).filter((account) => account.startsWith('Liabilities:'))).toEqual([last?.account])

    await payout.record(plan, await sendPart(ground, plan, 2))
    const after = await balances(ground)
    expect(Object.keys(after).filter((account) => account.startsWith('Liabilities:'))).toEqual([])
    expect(await onChain(ground)).toBe(0n)
    expect(after['Assets:PaymentWallet']).toBeUndefined()
    const shares = (price.shares[0]?.baseUnits ?? 0n) * 2n
    expect(await tokensOf(ground, provider)).toBe(shares - withheld(lab, shares))
    expect(await payout.plan({ destinations, leastBaseUnits: 0n })).toBeUndefined()
    expect(await payout.openParts(plan)).toEqual([])
  })

  test('what does not pay a part of the plan exactly is not recorded', async () => {
    const { settlement } = await pay(ground)
    await serve(ground, settlement)
    const plan = await planAll(ground)
    const wallet = lab.paymentWallet
    const receiver = { address: wallet.publicKey, account: lab.paymentAccount, keypair: wallet }
    const before = await balances(ground)
    const attempts: readonly (readonly [string, RegExp, Parameters<typeof land>[1]])[] = [
      ['no memo', /memo does not name/, transferFrom(lab, receiver, 1n)],
      ['memo of another plan', /memo does not name/, [memo('tollbook-payout:payout_0:1')]],
      [
        'less than planned',
        /as planned|does not move/,
        [memo(`tollbook-payout:${plan.id}:1`), ...transferFrom(lab, receiver, 1n)],
      ],
      ['nothing', /does not move/, [memo(`tollbook-payout:${plan.id}:1`)]],
    ]
    for (const [what, why, instructions] of attempts) {
      const signature = await land(lab, instructions, [wallet])
      await expect(payout.record(plan, signature), what).rejects.toThrow(why)
    }
    await expect(payout.record(plan, signatureIn(settlement)), 'a payment').rejects.toThrow(/memo does not name/)
    expect(await balances(ground)).toEqual(before)
  })

  test('whoever writes our memo into a payment of their own holds no payout up', async () => {
    const { settlement } = await pay(ground)
    await serve(ground, settlement)
    const stranger = await newCustomer(lab)
    const sendWith = (text: string) =>
      land(lab, [transferOf(lab, stranger, { send: 1n }), memo(text)], [stranger.keypair])
    await sendWith('tollbook-payout:payout_0:1')
    const plan = await planAll(ground)
    await sendWith(`tollbook-payout:${plan.id}:1`)
    expect(await payout.openParts(plan)).toEqual([1])
  })

  test('of payouts of the same debt that are recorded at once the ledger takes one, and pays no more than is owed', async () => {
    const { settlement } = await pay(ground)
    await serve(ground, settlement)
    const owed = -((await balances(ground))['Liabilities:Share:provider'] ?? 0n)
    expect(owed).toBeGreaterThan(0n)
    const desks = [1, 2].map(() => {
      const desk = openDatabase({
        databaseUrl: ground.payoutUrl,
        applicationName: 'racing desk',
        connectionsMax: 4,
        log: silentLog,
      })
      afterFile(() => desk.destroy())
      return desk
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
        const desk = desks[index % 2]
        if (desk === undefined) throw new Error('there are two desks')
        return recordPayout(desk, event, Date.now())
      }),
    )
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'more_than_owed'),
      'recorded',
    ])
    expect((await balances(ground))['Liabilities:Share:provider']).toBeUndefined()
  })

  test('the service cannot record a payout, and the payer of payouts can do nothing else', async () => {
    const [service, desk] = [openSessions(database.serviceUrl), openSessions(ground.payoutUrl)]
    const body = `'\\x7b7d'::bytea`
    await expect(service.query(`select * from ledger.record_payout(${body})`)).rejects.toMatchObject({ code: '42501' })
    await expect(desk.query(`select * from ledger.record_payout(${body})`)).rejects.toMatchObject({ code: '23514' })
    for (const statement of [
      'select ledger.add_partitions()',
      'insert into ledger.settings select * from ledger.settings',
      'update ledger.accounts set balance = 0',
      'select * from ledger.notes',
    ]) {
      await expect(desk.query(statement), statement).rejects.toMatchObject({ code: '42501' })
    }
    const { rows } = await desk.query<{ name: string }>(`
      select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('ledger', 'paywall', 'news') and has_schema_privilege(n.oid, 'usage')
        and has_function_privilege(p.oid, 'execute')`)
    expect(rows).toEqual([{ name: 'record_payout' }])
  })
})
