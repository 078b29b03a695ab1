import { createBurnInstruction, createInitializeMultisigInstruction, MULTISIG_SIZE } from '@solana/spl-token'
import { Keypair, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readShown } from '../../src/chain/shownInstruction.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { splTokenProgram } from '@tollbook/core/programs'
import { assert, assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import {
  approve,
  batch,
  burn,
  burnChecked,
  memo,
  mintTo,
  openPlainAccount,
  payment,
  relayed,
  transfer,
  transferChecked,
  transferCheckedWithFee,
} from './fixtureTokens.ts'
import {
  type Customer,
  type MintKind,
  type ChainFixture,
  accountOf,
  createAllocation,
  mintKinds,
  newCustomer,
  openAccount,
  openChainFixture,
  sendAndConfirm,
  signedBy,
  stage,
  mustFind,
} from './chainFixture.ts'

interface Layout {
  readonly says: string
  readonly layout: (fixture: ChainFixture, payer: Customer) => readonly TransactionInstruction[]
  /** The kind of mint for which the token program does not know it. */
  readonly without?: MintKind
}

const layouts: readonly Layout[] = [
  { says: 'a payment at top level', layout: payment },
  { says: 'a payment that another program calls', layout: (fixture, payer) => payment(fixture, payer).map(relayed) },
  {
    says: 'a Batch that another program calls',
    layout: (fixture, payer) => [relayed(batch(fixture, payment(fixture, payer)))],
  },
  {
    says: 'Burn and BurnChecked',
    layout: (fixture, payer) => [burn, burnChecked].map((each) => relayed(each(fixture, spendingOf(payer)))),
  },
  {
    says: 'Transfer',
    without: 'Token-2022 with a transfer fee',
    layout: (fixture, payer) => [relayed(transfer(fixture, spendingOf(payer)))],
  },
  {
    says: 'TransferCheckedWithFee',
    without: 'SPL Token',
    layout: (fixture, payer) => [relayed(transferCheckedWithFee(fixture, spendingOf(payer)))],
  },
  { says: 'minting', layout: (fixture, payer) => [relayed(mintTo(fixture, payer.account, 9n))] },
  {
    says: 'an approval, which moves nothing,',
    layout: (fixture, payer) => [relayed(approve(fixture, payer, fixture.issuer.publicKey))],
  },
  {
    says: 'opening an associated account',
    layout: (fixture) => [openAccount(fixture, { ...fixture, owner: Keypair.generate().publicKey })],
  },
  {
    says: 'memos of both versions',
    layout: () => [relayed(memo('tollbook:x', 1)), relayed(memo('tollbook:y', 3)), memo('z')],
  },
]

function spendingOf({ account, address }: Customer) {
  return { from: account, by: address, amount: 300n }
}

/*
 * Nodes show the inner instructions of a simulation in another form than those of a landed transaction. Both must be
 * read
 * with the same result.
 */
describe.each(mintKinds)('%s', (kind) => {
  let fixture: ChainFixture

  beforeAll(async () => {
    fixture = await openChainFixture(kind)
  })
  afterAll(() => fixture.chain.close())

  for (const { says, layout } of layouts.filter(({ without }) => without !== kind)) {
    test(`${says} is read alike before and after it lands`, async () => {
      const payer = await newCustomer(fixture)

      await expectRehearsed(fixture, layout(fixture, payer), [payer.keypair, fixture.issuer])
    })
  }

  test('the opening of a plain account by another program is read alike before and after it lands', async () => {
    const [payer, opened] = [await newCustomer(fixture), Keypair.generate()]
    const [create, initialize] = openPlainAccount(fixture, opened.publicKey, payer.address)
    const instructions = [assertPresent(create, 'there are two'), relayed(assertPresent(initialize, 'there are two'))]

    await expectRehearsed(fixture, instructions, [payer.keypair, fixture.issuer, opened])
  })

  test('a multisig is its own authority before and after it lands', async () => {
    const [member, multisig] = [await newCustomer(fixture), Keypair.generate()]
    const { program } = fixture
    const account = accountOf(fixture, multisig.publicKey)
    const room = { account: multisig.publicKey, payer: fixture.issuer.publicKey, space: MULTISIG_SIZE, program }
    const makeMultisig = createInitializeMultisigInstruction(multisig.publicKey, [member.address], 1, program)
    const opening = openAccount(fixture, { ...fixture, owner: multisig.publicKey })
    await stage(fixture, [createAllocation(room), makeMultisig, opening, mintTo(fixture, account, 100n)], [multisig])
    const burning = createBurnInstruction(account, fixture.mint, multisig.publicKey, 5n, [member.keypair], program)
    const sending = { from: account, by: multisig.publicKey, amount: 50n, members: [member.keypair] }

    await expectRehearsed(fixture, [relayed(burning), relayed(transferChecked(fixture, sending))], [member.keypair])
  })
})

async function expectRehearsed(
  fixture: ChainFixture,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[],
): Promise<void> {
  const signed = await signedBy(fixture.connection, instructions, usedSigners(instructions, signers))
  const transaction = fixture.reader.readTransaction(signed.serialize())
  assert(!isRefusal(transaction), 'it is signed by all')

  const simulation = await fixture.reader.simulate(transaction)
  await sendAndConfirm(fixture, transaction.bytes)
  const landed = await mustFind(fixture.reader, transaction.signature)

  assert(simulation.outcome === 'would_succeed', 'nothing stands against it')
  expect(landed.failure).toBeUndefined()
  expect(simulation.effects.movements).toEqual(landed.movements)
  expect(simulation.effects.memos).toEqual(landed.memos)
  expect(simulation.effects.balances).toEqual(landed.balances)
  expect(Buffer.from(landed.bytes ?? [])).toEqual(Buffer.from(transaction.bytes))
}

/** The first one pays, the others sign only where they are asked to. */
function usedSigners(instructions: readonly TransactionInstruction[], signers: readonly Keypair[]): readonly Keypair[] {
  const asked = new Set(
    instructions.flatMap(({ keys }) => keys.flatMap((key) => (key.isSigner ? key.pubkey.toBase58() : []))),
  )
  return signers.filter(({ publicKey }, index) => index === 0 || asked.has(publicKey.toBase58()))
}

describe('an inner instruction that a newer node shows', () => {
  const [token, member] = [splTokenProgram, 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr']
  const burned = { type: 'burn', info: { account: token, mint: member, authority: token, amount: '5' } }
  const effect = {
    kind: 'burn',
    source: token,
    mint: member,
    authority: token,
    amountBaseUnits: 5n,
    destination: undefined,
  }
  const shown = (parsed: unknown) => ({ programId: token, parsed })

  test('a Batch is read as the instructions in it', () => {
    const parsed = { type: 'batch', info: { instructions: [burned, { type: 'revoke', info: {} }, burned] } }

    expect(readShown(shown(parsed)).effects).toEqual([effect, effect])
  })

  test('a Batch within a Batch yields nothing, because the program refuses it', () => {
    const parsed = { type: 'batch', info: { instructions: [{ type: 'batch', info: { instructions: [burned] } }] } }

    expect(readShown(shown(parsed)).effects).toEqual([])
  })

  test('an unknown kind of instruction yields nothing', () => {
    expect(readShown(shown({ type: 'unwrapLamports', info: { source: token } })).effects).toEqual([])
  })

  test.each([
    ['no amount', { ...burned.info, amount: undefined }],
    ['an amount that is a number', { ...burned.info, amount: 5 }],
    ['no authority', { ...burned.info, authority: undefined }],
    ['an account that is not an address', { ...burned.info, account: 'mine' }],
  ])('a burn with %s cannot be used', (_name, info) => {
    expect(() => readShown(shown({ type: 'burn', info }))).toThrow(/./)
  })

  test('a missing part is a temporary fault', () => {
    expect(() => readShown(shown({ ...burned, info: { ...burned.info, mint: undefined } }))).toThrow(Fault)
  })
})
