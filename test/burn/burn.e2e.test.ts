import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { createTransferInstruction } from '@solana/spl-token'
import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { decideFinality } from '../../src/payment/finality.ts'
import { type PaymentReference, streamIdOf } from '../../src/payment/paymentReference.ts'
import type { BurnDeps } from '../../src/burn/burnRound.ts'
import { burnCommand } from '../../src/cli/burn.ts'
import { findBurnOf } from '../../src/reports/burnOfPayment.ts'
import { burnStats } from '../../src/reports/burnStats.ts'
import { mustAppend } from '../store/instance.ts'
import { claimOf, fulfilmentOf } from '../store/samplePayment.ts'
import { land, newCustomer, stage } from '../chain/chainFixture.ts'
import { openTamperingNode } from '../chain/tamperingNode.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import {
  balances,
  finalityRound,
  onChain,
  pay,
  payWithoutBurn,
  serve,
  stateOf,
  transferFrom,
} from '../jobs/lifecycleFixture.ts'
import { letBlockhashesExpire, makeFinal, oweBurn, openBurnFixture } from './burnFixture.ts'

/* Owed burns: burned by the job, once each, whatever happens to the job. Real Postgres, real SVM, the job's own login. */

const environment = await openBurnFixture('SPL Token')
const { fixture, ledger, clock, burnDeps, burn, supply } = environment
const { terms, price } = fixture

const owed = async () => -((await balances(environment))['Liabilities:BurnOwed'] ?? 0n)
const stats = async () => burnStats({ database: ledger.database, clock }, terms)

/** The ledger's wallet and the wallet on chain hold the same. */
async function expectReconciled(): Promise<void> {
  expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
}

/** Time of the answer for a payment: since then its burn is owed. */
async function answeredAt(reference: PaymentReference): Promise<string> {
  const { rows } = await sql<{ at: Date }>`
    select e.effective_at as at
    from ledger.streams s
    join ledger.events e on s.seqs @> e.seq and e.kind = 'RequestFulfilled'
    where s.id = ${Buffer.from(streamIdOf(reference))}`.execute(ledger.database)
  return isoTime(assertPresent(rows[0], 'the payment is answered').at.getTime())
}

test('without the approval of the payment wallet nothing is recorded, and the error says what to do', async () => {
  await oweBurn(environment)
  await expect(burn()).rejects.toThrow(/The payment wallet has to approve that delegate/)
  expect((await burnDeps.ledger.readRounds(terms.mint)).lastRound).toBe(0)
  await environment.approve()
})

test('the burns of final payments are burned at once, by exactly what is owed for them', async () => {
  await serve(environment, (await pay(environment)).settlement)
  const burnOwed = (await owed()) + (await oweBurn(environment))
  const { settlement } = await payWithoutBurn(environment)
  await serve(environment, settlement)
  await finalityRound(environment)
  const [before, total] = [await supply(), await burnedTotal()]

  const { reference } = settlement
  const outcome = await burn()
  expect(outcome).toMatchObject({ outcome: 'confirmed', round: 1, baseUnits: burnOwed })
  expect(await findBurnOf(ledger.database, reference)).toMatchObject({ status: 'owed', burn: null })
  expect(before - (await supply())).toBe(burnOwed)
  expect((await burnedTotal()) - total).toBe(burnOwed)
  expect(await owed(), 'the chain could still drop the last payment').toBe(settlement.price.burnBaseUnits)
  const burnBaseUnits = String(settlement.price.burnBaseUnits)
  const oldestAt = await answeredAt(reference)
  expect(await stats()).toMatchObject({ owed: { baseUnits: burnBaseUnits, oldestAt } })
  await expectReconciled()
  expect(await burn()).toEqual({ outcome: 'nothing_owed' })
  await makeFinal(environment)
  const second = await burn()
  assert(second.outcome === 'confirmed', 'a payment that is final now is burned')
  expect(await findBurnOf(ledger.database, reference)).toMatchObject({
    status: 'confirmed',
    burn: { round: 2, signature: second.signature },
  })
  expect(await owed()).toBe(0n)
  // Confirmed and owed apart: what callers burned themselves, what the job burned, and what is still owed.
  expect(await stats()).toMatchObject({
    total: { baseUnits: String(await burnedTotal()) },
    confirmed: {
      baseUnits: String(await burnedTotal()),
      insidePayments: { baseUnits: String(price.burnBaseUnits) },
      lastRound: { round: 2, signature: second.signature },
    },
    owed: { baseUnits: '0', oldestAt: null },
  })
})

async function burnedTotal(): Promise<bigint> {
  const all = await balances(environment)
  return Object.entries(all).reduce(
    (sum, [name, amount]) => (name.startsWith('Expenses:Burned') ? sum + amount : sum),
    0n,
  )
}

test('a payment that is reversed before its burn is in no round, and a final one is never reversed', async () => {
  const fork = fixture.chain.markFork()
  const { settlement } = await payWithoutBurn(environment)
  const served = await serve(environment, settlement)
  fixture.chain.dropFork(fork)
  const verdict = { kind: 'reversed', reason: 'absent', finalizedSlot: 1 } as const
  const decision = decideFinality(served, verdict)
  if (decision === undefined) throw new Error('a payment that is not final can be reversed')
  await mustAppend(ledger, { reference: settlement.reference, before: served, ...decision, nowMs: clock.nowMs() })
  await finalityRound(environment)
  expect(await burn()).toEqual({ outcome: 'nothing_owed' })

  const other = await payWithoutBurn(environment)
  await serve(environment, other.settlement)
  await makeFinal(environment)
  expect(decideFinality(await stateOf(environment, other.settlement.reference), verdict)).toBeUndefined()
  expect(await burn()).toMatchObject({ outcome: 'confirmed' })
})

class Killed extends Error {}

const die = () => Promise.reject(new Killed())

/** A job that ends at a step, as a killed process does: nothing after it happens. */
const deaths: readonly (readonly [step: string, death: Partial<BurnDeps>, rest: 'at once' | 'a day later'])[] = [
  ['before its burn is recorded', { ledger: { ...burnDeps.ledger, record: die } }, 'at once'],
  [
    'before the answer of the ledger arrives',
    { ledger: { ...burnDeps.ledger, record: (recorded) => burnDeps.ledger.record(recorded).then(die) } },
    'at once',
  ],
  ['before its burn is sent', { chain: { ...burnDeps.chain, broadcast: die } }, 'at once'],
  ['before its burn is sent', { chain: { ...burnDeps.chain, broadcast: die } }, 'a day later'],
  [
    'after its burn is sent',
    { chain: { ...burnDeps.chain, broadcast: (sent) => burnDeps.chain.broadcast(sent).then(die) } },
    'a day later',
  ],
  [
    'before the end is recorded',
    {
      ledger: {
        ...burnDeps.ledger,
        record: (burn) => (burn.event.kind === 'BurnSubmitted' ? burnDeps.ledger.record(burn) : die()),
      },
    },
    'at once',
  ],
]

describe('a job that is killed', () => {
  test.each(deaths)('%s burns neither twice nor too little', async (step, death, rest) => {
    const burnOwed = await oweBurn(environment)
    const before = await supply()
    await expect(burn(death), step).rejects.toThrow(Killed)
    if (rest === 'a day later') letBlockhashesExpire(environment)
    const outcome = await burn()
    // A burn that was recorded and can no longer land is given up; its debt is burned by the next round.
    if (outcome.outcome === 'failed') expect(await burn()).toMatchObject({ outcome: 'confirmed' })
    else expect(outcome).toMatchObject({ outcome: 'confirmed' })
    expect(before - (await supply()), step).toBe(burnOwed)
    expect(await owed()).toBe(0n)
    expect(await burn()).toEqual({ outcome: 'nothing_owed' })
    await expectReconciled()
  })
})

test('of several jobs at once one burns, and the others report its round or nothing', async () => {
  const burnOwed = await oweBurn(environment)
  const before = await supply()
  const { lastRound } = await burnDeps.ledger.readRounds(terms.mint)
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => burn()))
  expect(outcomes.filter(({ outcome }) => outcome === 'confirmed').length).toBeGreaterThan(0)
  expect(await burn()).toEqual({ outcome: 'nothing_owed' })
  expect((await burnDeps.ledger.readRounds(terms.mint)).lastRound).toBe(lastRound + 1)
  expect(before - (await supply())).toBe(burnOwed)
})

/** Exit code of `tollbook burn --once` at a node, and the outcome that it printed. */
async function runCommand(rpcUrl: string, { isInterrupted = false } = {}) {
  const keypair = join(await makeScratchDirectory(), 'delegate.json')
  await writeFile(keypair, JSON.stringify([...environment.delegate.secretKey]))
  for (const [name, value] of Object.entries({
    BURN_DATABASE_URL: environment.burnerUrl,
    BURN_KEYPAIR: keypair,
    SOLANA_RPC_URLS: rpcUrl,
    TOKEN_MINT: terms.mint,
    PAYMENT_WALLET: terms.paymentWallet,
  }))
    vi.stubEnv(name, value)
  const ended = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  try {
    const terminal = await openTerminal()
    if (isInterrupted) terminal.interrupt.abort()
    const { stdout } = await terminal.run(burnCommand, '--once')
    return [JSON.parse(stdout).outcome, ended.mock.lastCall?.[0]]
  } finally {
    ended.mockRestore()
    vi.unstubAllEnvs()
  }
}

test('the command ends with 0 if nothing is owed, and asks for another run if another job has taken the round', async () => {
  const node = await openTamperingNode(fixture.chain.rpcUrl)
  afterFile(() => node.close())
  expect(await runCommand(node.url)).toEqual(['nothing_owed', 0])
  await oweBurn(environment)
  node.answer('getLatestBlockhash', async ({ forward }) => {
    node.behave()
    expect(await burn()).toMatchObject({ outcome: 'confirmed' })
    return { status: 200, text: await forward() }
  })
  expect(await runCommand(node.url)).toEqual(['overtaken', 7])
})

test('an interrupted command leaves its round to the next run, and its log is not on stdout', async () => {
  await oweBurn(environment)
  const [out, err]: [string[], string[]] = [[], []]
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0)
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => err.push(String(text)) > 0)
  expect(await runCommand(fixture.chain.rpcUrl, { isInterrupted: true })).toEqual(['waiting', 7])
  expect(await burn()).toMatchObject({ outcome: 'confirmed' })
  expect(err.join('')).toContain('"event":"burn_submitted"')
  expect(out.join('')).not.toContain('burn_submitted')
})

test('a payment that is answered after others were burned is burned once, by the next round', async () => {
  const { settlement: first } = await payWithoutBurn(environment)
  const released = await serve(environment, first, 'released')
  const burnOwed = await oweBurn(environment)
  expect(await owed(), 'the failed attempt owes no burn').toBe(burnOwed)
  expect(await findBurnOf(ledger.database, first.reference)).toMatchObject({ status: 'undelivered', baseUnits: '0' })
  const before = await supply()
  expect(await burn()).toMatchObject({ outcome: 'confirmed', baseUnits: burnOwed })

  // Its stream began before the round, and its debt comes after it: rounds go by the position of the debt.
  const final = await stateOf(environment, first.reference)
  expect([released.phase, final.phase]).toEqual(['released', 'released'])
  const { attemptId, change } = claimOf(first, { before: final })
  const { after } = await mustAppend(ledger, change)
  await mustAppend(ledger, fulfilmentOf(first, { before: after, attemptId }))
  await makeFinal(environment)
  const second = await burn()
  expect(second).toMatchObject({ outcome: 'confirmed', baseUnits: first.price.burnBaseUnits })
  expect(await burn()).toEqual({ outcome: 'nothing_owed' })
  expect(before - (await supply())).toBe(burnOwed + first.price.burnBaseUnits)
  const burnOfFirst = await findBurnOf(ledger.database, first.reference)
  expect(burnOfFirst).toMatchObject({
    status: 'confirmed',
    burn: { signature: 'signature' in second && second.signature },
  })
  await expectReconciled()
})

/** The chain of a job that rehearses only after another job has burned the same debts. */
const late: readonly (readonly [what: string, meanwhile: () => void])[] = [
  ['has sent the same transaction', () => undefined],
  ['has burned them long before', () => letBlockhashesExpire(environment)],
]

test.each(late)('a job that rehearses after another %s is overtaken, and not an error', async (_what, meanwhile) => {
  const burnOwed = await oweBurn(environment)
  const before = await supply()
  const simulate: BurnDeps['chain']['simulate'] = async (signed) => {
    expect(await burn()).toMatchObject({ outcome: 'confirmed' })
    meanwhile()
    return burnDeps.chain.simulate(signed)
  }
  expect(await burn({ chain: { ...burnDeps.chain, simulate } })).toEqual({ outcome: 'overtaken' })
  expect(before - (await supply())).toBe(burnOwed)
})

test('a burn that no node can rehearse is refused while no other job has its debts', async () => {
  await oweBurn(environment)
  const simulate = () => Promise.resolve({ outcome: 'unknown' } as const)
  await expect(burn({ chain: { ...burnDeps.chain, simulate } })).rejects.toThrow(/nothing was recorded/)
  expect(await burn()).toMatchObject({ outcome: 'confirmed' })
})

test('a burn that fails on chain is recorded as failed, and its debt stays owed', async () => {
  const burnOwed = await oweBurn(environment)
  const { paymentAccount, paymentWallet } = fixture
  const elsewhere = await newCustomer(fixture, 0n)
  const [held, own] = [await onChain(environment), { address: paymentWallet.publicKey, account: paymentAccount }]
  const emptying: BurnDeps['chain'] = {
    ...burnDeps.chain,
    broadcast: async (sent) => {
      await land(fixture, transferFrom(fixture, elsewhere, held), [fixture.issuer, paymentWallet])
      await burnDeps.chain.broadcast(sent)
    },
  }
  expect(await burn({ chain: emptying })).toMatchObject({ outcome: 'failed' })
  expect(await owed()).toBe(burnOwed)
  const back = createTransferInstruction(elsewhere.account, own.account, elsewhere.address, held)
  await stage(fixture, [back], [elsewhere.keypair])
  expect(await burn()).toMatchObject({ outcome: 'confirmed', baseUnits: burnOwed })
  await expectReconciled()
  expect(await stats()).toMatchObject({ owed: { baseUnits: '0' } })
})

test('a burn that failed after its approval was revoked is decided by a second node', async () => {
  const burnOwed = await oweBurn(environment)
  const revoking: BurnDeps['chain'] = {
    ...burnDeps.chain,
    broadcast: async (sent) => {
      await environment.revoke()
      await burnDeps.chain.broadcast(sent)
    },
  }
  await expect(burn({ chain: revoking })).rejects.toThrow(/the allowance of the delegate was .* and is 0/)
  expect(await burn({ chain: await environment.withSecondNode() })).toMatchObject({ outcome: 'failed' })
  expect(await owed()).toBe(burnOwed)
  await environment.approve()
  expect(await burn()).toMatchObject({ outcome: 'confirmed', baseUnits: burnOwed })
})

test('a burn that one of two nodes hides is confirmed by the other', async () => {
  const burnOwed = await oweBurn(environment)
  const before = await supply()
  await expect(burn(hidden)).rejects.toThrow(/Nothing is burned again/)
  expect(await burn({ chain: await environment.withSecondNode() })).toMatchObject({ outcome: 'confirmed' })
  fixture.chain.setNode(0, { newestState: true })
  expect(before - (await supply())).toBe(burnOwed)
})

/** The only node denies the burn that has just landed. */
const hidden: Partial<BurnDeps> = {
  chain: {
    ...burnDeps.chain,
    broadcast: async (sent) => {
      await burnDeps.chain.broadcast(sent)
      const { signature } = assertPresent((await burnDeps.ledger.readRounds(terms.mint)).open, 'the round is open')
      fixture.chain.setNode(0, { newestState: true, hide: [signature] })
    },
  },
}
/** The only node says that each transaction failed. */
const denied: Partial<BurnDeps> = {
  chain: {
    ...burnDeps.chain,
    broadcast: async (sent) => {
      await burnDeps.chain.broadcast(sent)
      fixture.chain.setNode(0, { newestState: true, failRecords: true })
    },
  },
}

test.each([
  ['hides', hidden],
  ['reports as failed', denied],
])('a burn that the only node %s is not burned again', async (_how, lying) => {
  const burnOwed = await oweBurn(environment)
  const before = await supply()
  const { lastRound } = await burnDeps.ledger.readRounds(terms.mint)
  await expect(burn(lying)).rejects.toThrow(/Nothing is burned again.*second node/)
  await expect(burn(), 'nor by the next run').rejects.toThrow(/Nothing is burned again/)
  expect(before - (await supply())).toBe(burnOwed)
  expect(await owed()).toBe(burnOwed)
  fixture.chain.setNode(0, { newestState: true })
  // A record is remembered for 5 s.
  clock.advance(6_000)
  expect(await burn()).toMatchObject({ outcome: 'confirmed', round: lastRound + 1 })
  expect(before - (await supply())).toBe(burnOwed)
  await expectReconciled()
})

test('an allowance that was renewed does not prove that a hidden burn is absent', async () => {
  await environment.approve()
  const burnOwed = await oweBurn(environment)
  const before = await supply()
  await expect(burn(hidden)).rejects.toThrow(/the allowance of the delegate was/)
  await environment.approve()
  await expect(burn()).rejects.toThrow(/paid a network fee/)
  fixture.chain.setNode(0, { newestState: true })
  expect(await burn()).toMatchObject({ outcome: 'confirmed' })
  expect(before - (await supply())).toBe(burnOwed)
})
