import { createInitializeAccount2Instruction, createInitializeAccountInstruction } from '@solana/spl-token'
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { memoOfSecret } from '@tollbook/core/binding'
import { randomToken } from '@tollbook/core/id'
import {
  batch,
  burn,
  closeAccount,
  handOver,
  memo,
  openPlainAccount,
  payment,
  relayed,
  transfer,
  transferChecked,
} from '../fixtureTokens.ts'
import {
  type ChainFixture,
  type Customer,
  accountBytes,
  accountOf,
  addressOf,
  createAllocation,
  due,
  gross,
  land,
  newCustomer,
  openAccount,
  stage,
} from '../chainFixture.ts'
import { casesOf, type Presented, withoutFeeKinds } from './verificationCase.ts'

/**
 * Accounts that exist only within the payment, in every way to open one: no balance before or after shows their owners.
 * And memos of ours, at every depth.
 */
export const passingCases = casesOf([
  {
    rule: '5g',
    says: 'an account that is opened in the oldest way, filled, spent and closed in the same transaction',
    verdict: 'accepted',
    pay: passing((fixture, account, owner) =>
      createInitializeAccountInstruction(account, fixture.mint, owner, fixture.program),
    ),
  },
  {
    rule: '5g',
    says: 'an account whose owner is named in the data, filled, spent and closed in the same transaction',
    verdict: 'accepted',
    pay: passing((fixture, account, owner) =>
      createInitializeAccount2Instruction(account, fixture.mint, owner, fixture.program),
    ),
  },
  {
    rule: '5g',
    says: 'an account that another program opens, fills, spends and closes',
    verdict: 'accepted',
    pay: passing(undefined, (_fixture, own) => own.map(relayed)),
  },
  {
    rule: '5g',
    says: 'an account that a Batch opens, fills, spends and closes',
    verdict: 'accepted',
    pay: passing(undefined, (fixture, own) => [batch(fixture, own)]),
  },
  {
    rule: '5g',
    says: 'an account that is opened, filled, spent and closed, with instructions that do not name the mint',
    verdict: 'accepted',
    kinds: withoutFeeKinds,
    pay: payWithoutMint,
  },
  {
    rule: '5g',
    says: 'an account that is opened and closed twice, first for another wallet',
    verdict: 'burn_insufficient',
    pay: payFromReopened,
  },
  {
    rule: '4d',
    says: "the payment wallet's associated account is given away in the same transaction",
    verdict: 'transfer_insufficient',
    // Token-2022 does not let an associated account change hands.
    kinds: ['SPL Token'],
    pay: payIntoGivenAway,
  },
  { rule: '5i', says: 'the memo of a quote, with its secret', verdict: 'accepted', pay: bound((text) => [memo(text)]) },
  {
    rule: '5i',
    says: 'the memo of a quote in an inner instruction, with its secret',
    verdict: 'accepted',
    pay: bound((text) => [relayed(memo(text, 1))]),
  },
  {
    rule: '5i',
    says: 'the memo of a quote in an inner instruction, without its secret',
    verdict: 'secret_required',
    pay: bound((text) => [relayed(memo(text))], false),
  },
  { rule: '5i', says: 'a secret without its memo', verdict: 'memo_missing', pay: bound(() => []) },
  {
    rule: '5i',
    says: 'the memo of a quote twice, with its secret',
    verdict: 'memo_ambiguous',
    pay: bound((text) => [memo(text), relayed(memo(text))]),
  },
])

type Open = (fixture: ChainFixture, account: PublicKey, owner: PublicKey) => TransactionInstruction
type Arrange = (fixture: ChainFixture, own: readonly TransactionInstruction[]) => readonly TransactionInstruction[]

/** `arrange` gets all instructions of the token program. */
function passing(open?: Open, arrange: Arrange = (_fixture, own) => own) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const [payer, opened] = [await newCustomer(fixture), Keypair.generate()]
    const account = opened.publicKey
    const [allocate, initialize] = openPlainAccount(fixture, account, payer.address)
    const opening = open?.(fixture, account, payer.address) ?? initialize
    const own = [
      ...(opening === undefined ? [] : [opening]),
      fill(fixture, payer, account),
      ...payment(fixture, payer, { from: account }),
      ...closeAccount(fixture, account, payer.address),
    ]
    const instructions = [...(allocate === undefined ? [] : [allocate]), ...arrange(fixture, own)]
    const signature = await land(fixture, instructions, [payer.keypair, opened, fixture.issuer])
    return { signature, wallet: payer.address }
  }
}

function fill(fixture: ChainFixture, { account: from, address: by }: Customer, to: PublicKey): TransactionInstruction {
  const needed = fixture.price.burnBaseUnits + gross(fixture, due(fixture))
  return transferChecked(fixture, { from, by, to, amount: gross(fixture, needed) })
}

async function payWithoutMint(fixture: ChainFixture): Promise<Presented> {
  const [payer, opened] = [await newCustomer(fixture), Keypair.generate()]
  const { account: own, address: by } = payer
  const from = opened.publicKey
  const needed = fixture.price.burnBaseUnits + due(fixture)
  const instructions = [
    ...openPlainAccount(fixture, from, by),
    transfer(fixture, { from: own, by, to: from, amount: needed }),
    burn(fixture, { from, by, amount: fixture.price.burnBaseUnits }),
    transfer(fixture, { from, by, amount: due(fixture) }),
    ...closeAccount(fixture, from, by),
  ]
  return { signature: await land(fixture, instructions, [payer.keypair, opened, fixture.issuer]), wallet: by }
}

async function payFromReopened(fixture: ChainFixture): Promise<Presented> {
  const [payer, other, opened] = [await newCustomer(fixture), await newCustomer(fixture), Keypair.generate()]
  const { address: by } = payer
  const account = opened.publicKey
  const instructions = [
    ...openPlainAccount(fixture, account, other.address),
    ...closeAccount(fixture, account, other.address),
    createAllocation({
      account,
      payer: fixture.issuer.publicKey,
      space: accountBytes(fixture.kind),
      program: fixture.program,
    }),
    createInitializeAccountInstruction(account, fixture.mint, by, fixture.program),
    fill(fixture, payer, account),
    ...payment(fixture, payer, { from: account }),
    ...closeAccount(fixture, account, by),
  ]
  const signature = await land(fixture, instructions, [payer.keypair, other.keypair, opened, fixture.issuer])
  return { signature, wallet: by }
}

/** The transaction gives the receiving account to another owner after the tokens arrived. */
async function payIntoGivenAway(fixture: ChainFixture): Promise<Presented> {
  const [payer, receiver] = [await newCustomer(fixture), Keypair.generate()]
  const owner = receiver.publicKey
  const account = accountOf(fixture, owner)
  await stage(fixture, [openAccount(fixture, { ...fixture, owner })])
  const elsewhere: ChainFixture = { ...fixture, paymentAccount: account }
  const giveAway = handOver(fixture, { account, from: owner, to: fixture.issuer.publicKey })
  const signature = await land(fixture, [...payment(elsewhere, payer), giveAway], [payer.keypair, receiver])
  const terms = { ...fixture.terms, paymentWallet: addressOf(owner), paymentTokenAccount: addressOf(account) }
  return { signature, wallet: payer.address, terms }
}

function bound(memos: (text: string) => readonly TransactionInstruction[], hasSecret = true) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const [payer, secret] = [await newCustomer(fixture), randomToken()]
    const instructions = [...memos(memoOfSecret(secret)), ...payment(fixture, payer)]
    const signature = await land(fixture, instructions, [payer.keypair])
    return { signature, wallet: payer.address, ...(hasSecret ? { secret } : {}) }
  }
}
