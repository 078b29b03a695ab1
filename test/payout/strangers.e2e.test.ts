import {
  AuthorityType,
  createBurnInstruction,
  createCloseAccountInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createReallocateInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
  ExtensionType,
} from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { identifiedPlan } from '../../src/accounting/payoutPlan.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { addressOf, type Customer, land, newCustomer, openAccount, stage } from '../chain/chainFixture.ts'
import { runPayoutCommand } from '../cli/payoutRunner.ts'
import { balances, expectAuditHolds, finalityRound, onChain, pay, serve } from '../jobs/lifecycleFixture.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openPayoutFixture, type PayoutFixture } from './payoutFixture.ts'

/* Strangers who are owed something and prepare their token accounts so that a transfer to them fails, or costs rent. */

interface Trouble {
  readonly kind: Parameters<typeof openPayoutFixture>[0]
  readonly what: string
  readonly reason: RegExp
  make(environment: PayoutFixture, stranger: Customer): Promise<unknown>
}

const troubles: readonly Trouble[] = [
  {
    kind: 'SPL Token',
    what: 'gives its token account away',
    reason: /its token account \w+ belongs to/,
    make: ({ fixture }, { account, address, keypair }) => {
      const other = Keypair.generate().publicKey
      return land(
        fixture,
        [createSetAuthorityInstruction(account, address, AuthorityType.AccountOwner, other)],
        [keypair],
      )
    },
  },
  {
    kind: 'Token-2022',
    what: 'requires memos',
    reason: /its token account \w+ requires a memo/,
    make: ({ fixture }, { account, address, keypair }) =>
      land(
        fixture,
        [
          createReallocateInstruction(account, address, [ExtensionType.MemoTransfer], address, [], fixture.program),
          createEnableRequiredMemoTransfersInstruction(account, address, [], fixture.program),
        ],
        [keypair],
      ),
  },
]

/** Owed one base unit. */
async function owe(environment: PayoutFixture): Promise<Customer> {
  const { customer, settlement } = await pay(environment, 1n)
  await serve(environment, settlement)
  environment.fixture.chain.advanceSlots(32)
  await finalityRound(environment)
  return customer
}

async function openCommand(environment: PayoutFixture) {
  const folder = await makeScratchDirectory()
  const { fixture, destinations } = environment
  vi.stubEnv('PAYOUT_DATABASE_URL', environment.payoutUrl)
  vi.stubEnv('SOLANA_RPC_URLS', fixture.chain.rpcUrl)
  vi.stubEnv('TOKEN_MINT', fixture.terms.mint)
  vi.stubEnv('PAYMENT_WALLET', fixture.terms.paymentWallet)
  vi.stubEnv('PAYOUT_WALLETS', [...destinations].map(([share, wallet]) => `${share}:${wallet}`).join(','))
  const wallet = join(folder, 'wallet.json')
  await writeFile(wallet, JSON.stringify([...fixture.paymentWallet.secretKey]))
  const file = join(folder, 'plan.json')
  const run = (...words: readonly string[]) => runPayoutCommand(environment, folder, words)
  return {
    run,
    plan: (...words: readonly string[]) => run('plan', '--output', file, ...words),
    send: () => run('send', file, '--keypair', wallet),
    unsigned: () => run('send', file, '--unsigned'),
    async record(lines: readonly string[]) {
      for (const line of lines)
        expect(await run('record', JSON.parse(line).signature, '--plan', file)).toMatchObject({ code: 0 })
    },
  }
}

async function owedAccounts(environment: PayoutFixture): Promise<readonly string[]> {
  return Object.keys(await balances(environment)).filter((name) => name.startsWith('Liabilities:'))
}

describe.each(troubles)('a stranger who $what', ({ kind, reason, make }) => {
  let environment: PayoutFixture
  let command: Awaited<ReturnType<typeof openCommand>>
  beforeAll(async () => {
    environment = await openPayoutFixture(kind)
    command = await openCommand(environment)
  })
  afterAll(() => vi.unstubAllEnvs())

  test('after the plan is named and left out, and everyone else is paid', async () => {
    const [stranger, other] = [await owe(environment), await owe(environment)]
    expect(await command.plan()).toMatchObject({ code: 0, complaint: '' })
    await make(environment, stranger)
    const sent = await command.send()
    expect(sent.code).toBe(4)
    expect(sent.complaint).toMatch(reason)
    expect(sent.complaint).toContain(`leaves out Liabilities:Overpaid:${stranger.address.toBase58()}`)
    await command.record(sent.lines)
    expect(await owedAccounts(environment)).toEqual([`Liabilities:Overpaid:${stranger.address.toBase58()}`])
    expect((await balances(environment))['Assets:PaymentWallet']).toBe(await onChain(environment))
    expect(other.address.equals(stranger.address)).toBe(false)

    const again = await command.plan()
    expect(again).toMatchObject({ code: 0, lines: [''] })
    expect(again.complaint).toMatch(reason)
    await expectAuditHolds(environment)
  })

  test('before the plan waits by name, and the plan pays everyone else', async () => {
    const stranger = await owe(environment)
    await make(environment, stranger)
    const planned = await command.plan()
    expect(planned.complaint).toContain(`waits: Liabilities:Overpaid:${stranger.address.toBase58()}`)
    expect(planned.complaint).toMatch(reason)
    const sent = await command.send()
    expect([sent.code, sent.lines.length]).toEqual([0, 1])
    await command.record(sent.lines)
    expect((await owedAccounts(environment)).every((account) => account.startsWith('Liabilities:Overpaid:'))).toBe(true)
  })
})

describe('a stranger who closes its token account', () => {
  let environment: PayoutFixture
  let command: Awaited<ReturnType<typeof openCommand>>
  beforeAll(async () => {
    environment = await openPayoutFixture('SPL Token')
    command = await openCommand(environment)
  })
  afterAll(() => vi.unstubAllEnvs())

  /** The stranger takes the rent, and burns the tokens. */
  async function close({ account, address, keypair }: Customer): Promise<void> {
    const { connection, mint } = environment.fixture
    const { value } = await connection.getTokenAccountBalance(account, 'processed')
    const burn = createBurnInstruction(account, mint, address, BigInt(value.amount))
    await land(environment.fixture, [burn, createCloseAccountInstruction(account, address, address)], [keypair])
  }
  const lamports = async () => {
    const { connection, paymentWallet } = environment.fixture
    return connection.getBalance(paymentWallet.publicKey, 'processed')
  }
  const rent = 2_039_280
  const account = ({ address }: Customer) => `Liabilities:Overpaid:${address.toBase58()}`

  test('waits by name, and gets one account where the operator allows it', async () => {
    const stranger = await owe(environment)
    await close(stranger)
    const waits = await command.plan()
    expect(waits.complaint).toMatch(new RegExp(`waits: ${account(stranger)}, .*has no token account; --open-accounts`))
    expect(JSON.parse(waits.lines[0] ?? '')).toMatchObject({ opens: 0, waiting: 1 })

    const before = await lamports()
    expect(JSON.parse((await command.plan('--open-accounts', '1')).lines[0] ?? '')).toMatchObject({ opens: 1 })
    const sent = await command.send()
    expect(sent.code).toBe(0)
    await command.record(sent.lines)
    expect(await owedAccounts(environment)).toEqual([])
    expect(before - (await lamports())).toBe(rent + 5_000 * sent.lines.length)
  })

  test('again after it was paid is never given another, whatever the operator allows', async () => {
    const stranger = await owe(environment)
    expect((await command.plan()).code).toBe(0)
    await command.record((await command.send()).lines)
    await close(stranger)
    await stage(environment.fixture, [
      openAccount(environment.fixture, { ...environment.fixture, owner: stranger.address }),
    ])
    const { settlement } = await pay(environment, 1n, await refill(stranger))
    await serve(environment, settlement)
    environment.fixture.chain.advanceSlots(32)
    await finalityRound(environment)
    await close(stranger)
    const before = await lamports()
    const planned = await command.plan('--open-accounts', '9')
    expect(planned.complaint).toMatch(new RegExp(`waits: ${account(stranger)}, .*rent is not paid twice`))
    const sent = await command.send()
    await command.record(sent.lines)
    expect(before - (await lamports())).toBe(5_000 * sent.lines.length)
  })

  test('between plan and payment gets nothing, and costs no rent', async () => {
    const [stranger, other] = [await owe(environment), await owe(environment)]
    await command.plan('--open-accounts', '9')
    await close(stranger)
    const before = await lamports()
    const unsigned = await command.unsigned()
    expect([unsigned.code, unsigned.lines.length]).toEqual([4, 2])
    const sent = await command.send()
    expect(sent.code).toBe(4)
    expect(sent.complaint).toContain(`leaves out ${account(stranger)}`)
    await command.record(sent.lines)
    expect(await owedAccounts(environment)).toContain(account(stranger))
    expect(await owedAccounts(environment)).not.toContain(account(other))
    expect(before - (await lamports())).toBe(5_000 * sent.lines.length)
  })

  test('after the first of two payments of one plan gets one account, and not another', async () => {
    const { fixture, payout } = environment
    const stranger = await newCustomer(fixture)
    await close(stranger)
    const transfer = { wallet: addressOf(stranger.address), baseUnits: 1n }
    const [first, second] = [stranger, stranger].map((_, index) => [{ account: `Liabilities:${index}`, ...transfer }])
    const { network, mint, decimals, paymentWallet } = fixture.terms
    const plan = identifiedPlan({
      network,
      mint,
      decimals,
      paymentWallet,
      position: 1,
      slot: 1,
      opens: [transfer.wallet],
      parts: [first ?? [], second ?? []],
    })
    expect((await payout.prepare(plan, 1, paymentWallet)).leftOut).toEqual([])
    expect((await payout.prepare(plan, 2, paymentWallet)).leftOut).toMatchObject([{ wallet: transfer.wallet }])
  })

  test('as a holder gets no account in the next payout to holders, and none in the payout that it sees coming', async () => {
    const { fixture, payout, destinations } = environment
    const stranger = await owe(environment)
    await command.record((await command.plan()).code === 0 ? (await command.send()).lines : [])
    const other = await newCustomer(fixture)
    const aside = await newCustomer(fixture, 0n)
    const { settlement } = await pay(environment)
    await serve(environment, settlement)
    environment.fixture.chain.advanceSlots(32)
    await finalityRound(environment)
    const terms = {
      share: 'holders',
      excluded: [...destinations.values()],
      minimumBaseUnits: 1_000n,
      openAccountsMax: 9,
    }
    const planHolders = async () => {
      const { text: snapshotText } = await payout.holders.snapshot()
      return assertPresent(await payout.holders.plan({ ...terms, snapshotText }), 'the share is owed')
    }
    const plan = await planHolders()
    expect(plan.parts.flat().map(({ wallet }) => wallet)).toContain(stranger.address.toBase58())

    // Its tokens are elsewhere when the account is closed, and belong to it again afterwards.
    const { connection } = fixture
    const { value } = await connection.getTokenAccountBalance(stranger.account, 'processed')
    const move = createTransferInstruction(stranger.account, aside.account, stranger.address, BigInt(value.amount))
    await land(
      fixture,
      [move, createCloseAccountInstruction(stranger.account, stranger.address, stranger.address)],
      [stranger.keypair],
    )
    const give = createSetAuthorityInstruction(
      aside.account,
      aside.address,
      AuthorityType.AccountOwner,
      stranger.address,
    )
    await land(fixture, [give], [aside.keypair])

    const before = await lamports()
    const paying = payout.holders.pay({
      plan,
      feePayer: fixture.terms.paymentWallet,
      signers: [fixture.paymentWallet],
      signal: new AbortController().signal,
      onProgress: () => undefined,
    })
    await expect(paying).rejects.toThrow(`${stranger.address.toBase58()} has no token account, and`)
    expect((before - (await lamports())) % 5_000).toBe(0)
    await payout.holders.end(plan)
    const next = (await planHolders()).parts.flat().map(({ wallet }): string => wallet)
    expect(next).toContain(other.address.toBase58())
    expect(next).not.toContain(stranger.address.toBase58())
  })

  /** Tokens of another customer, with which a purchase is paid. */
  async function refill(stranger: Customer): Promise<Customer> {
    const { fixture } = environment
    const friend = await newCustomer(fixture)
    const move = createTransferInstruction(friend.account, stranger.account, friend.address, 5_000_000n)
    await land(fixture, [move], [friend.keypair])
    return stranger
  }
})

describe('tokens that are held for others', () => {
  let environment: PayoutFixture
  let command: Awaited<ReturnType<typeof openCommand>>
  beforeAll(async () => {
    environment = await openPayoutFixture('SPL Token')
    command = await openCommand(environment)
  })
  afterAll(() => vi.unstubAllEnvs())

  test('are not spent by a plan: an open payment and an owed burn keep theirs', async () => {
    await owe(environment)
    const { fixture } = environment
    // The chain has dropped tokens: the wallet holds less than it owes.
    const thief = await newCustomer(fixture, 0n)
    const { paymentAccount, paymentWallet } = fixture
    const move = createTransferInstruction(paymentAccount, thief.account, paymentWallet.publicKey, 1_000n)
    await stage(fixture, [move], [paymentWallet])
    expect((await command.plan()).complaint).toMatch(/the plan pays .* and .* holds/)
    const { settlement } = await pay(environment)
    await serve(environment, settlement, 'claimed')
    const refused = await command.plan()
    expect([refused.code, refused.lines]).toEqual([4, ['']])
    expect(refused.complaint).toMatch(
      /0\.7 are held for open payments and owed burns\. Send the tokens that are missing/,
    )
    const back = createTransferInstruction(thief.account, paymentAccount, thief.address, 1_000n)
    await stage(fixture, [back], [thief.keypair])
    expect((await command.plan()).code).toBe(0)
  })
})

test('a debt below a hundredth of the cheapest price waits, unless the operator asks for less', async () => {
  const environment = await openPayoutFixture('SPL Token')
  const command = await openCommand(environment)
  const { ledger, fixture } = environment
  const prices = [fixture.price]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices })
  const stranger = await owe(environment)
  const waits = await command.plan()
  expect(waits.complaint).toBe(
    `waits: Liabilities:Overpaid:${stranger.address.toBase58()}, 0.000001 tokens: it is less than the smallest payout, 0.01 (--min-tokens)\n`,
  )
  expect((await command.plan('--min-tokens', '0')).complaint).toBe('')
  vi.unstubAllEnvs()
})
