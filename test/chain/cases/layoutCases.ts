import { createAssociatedTokenAccountInstruction } from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import {
  batch,
  burnChecked,
  burnOf,
  closeAccount,
  memo,
  mintTo,
  openPlainAccount,
  payment,
  relayed,
  transferChecked,
  transferOf,
} from '../fixtureTokens.ts'
import { signedThroughTable } from '../lookupTable.ts'
import {
  type Customer,
  type ChainFixture,
  accountOf,
  addressOf,
  due,
  giveSol,
  gross,
  land,
  newCustomer,
  sendAndConfirm,
  stage,
} from '../chainFixture.ts'
import { type Presented, type Verdict, casesOf } from './verificationCase.ts'

interface Layout {
  readonly rule: string
  readonly says: string
  /** Pays in this layout, with so much more or less than what has to be sent. */
  readonly pay: (fixture: ChainFixture, more: bigint) => Promise<Presented>
}

/** Rule 5: it does not matter how the transaction is put together. Each way of paying, in full and one base unit short. */
const layouts: readonly Layout[] = [
  { rule: '5a', says: 'a version 0 transaction with a lookup table', pay: payThroughTable },
  {
    rule: '5b',
    says: 'both instructions called by another program',
    pay: paying((_fixture, plain) => plain.map(relayed)),
  },
  { rule: '5c', says: 'both instructions in a Batch', pay: paying((fixture, plain) => [batch(fixture, plain)]) },
  {
    rule: '5c',
    says: 'both instructions in a Batch that another program calls',
    pay: paying((fixture, plain) => [relayed(batch(fixture, plain))]),
  },
  { rule: '5d', says: 'three source accounts of the wallet', pay: payFromThree },
  { rule: '5e', says: "the payment wallet's account is opened in the same transaction", pay: payOpening },
  { rule: '5f', says: 'the wallet opens its account and buys the tokens in the same transaction', pay: payWithBought },
  {
    rule: '5g',
    says: 'an account that is opened, filled, spent and closed in the same transaction',
    pay: payFromPassing,
  },
  { rule: '5g', says: 'the account is emptied by the payment and closed', pay: payAndClose },
  {
    rule: '5h',
    says: 'compute budget, other memos, and other transfers around it',
    pay: paying((fixture, plain, payer) => [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      memo('for the weather'),
      ...plain,
      memo('tollbooth: of another service', 1),
      SystemProgram.transfer({ fromPubkey: payer.address, toPubkey: fixture.issuer.publicKey, lamports: 1_000 }),
    ]),
  },
]

export const layoutCases = casesOf(
  layouts.flatMap(({ rule, says, pay }) => [
    { rule, says, verdict: 'accepted', pay: (fixture) => pay(fixture, 0n) },
    {
      rule,
      says: `${says}, one base unit short`,
      verdict: 'transfer_insufficient' satisfies Verdict,
      pay: (fixture) => pay(fixture, -1n),
    },
  ]),
)

type Arrange = (
  fixture: ChainFixture,
  plain: readonly TransactionInstruction[],
  payer: Customer,
) => readonly TransactionInstruction[]

function paying(arrange: Arrange) {
  return async (fixture: ChainFixture, more: bigint): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const plain = payment(fixture, payer, { send: gross(fixture, due(fixture)) + more })
    return { signature: await land(fixture, arrange(fixture, plain, payer), [payer.keypair]), wallet: payer.address }
  }
}

async function payThroughTable(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const instructions = payment(fixture, payer, { send: gross(fixture, due(fixture)) + more })
  const transaction = await signedThroughTable(fixture, instructions, [payer.keypair])
  return { signature: await sendAndConfirm(fixture, transaction.serialize()), wallet: payer.address }
}

async function payFromThree(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const [payer, second, third] = [await newCustomer(fixture), Keypair.generate(), Keypair.generate()]
  const { address: by } = payer
  const opening = [second, third].flatMap(({ publicKey }) => [
    ...openPlainAccount(fixture, publicKey, by),
    mintTo(fixture, publicKey, 5_000_000n),
  ])
  await stage(fixture, opening, [second, third])
  const [half, rest] = [due(fixture) / 2n, due(fixture) - due(fixture) / 2n]
  const instructions = [
    transferChecked(fixture, { from: second.publicKey, by, amount: gross(fixture, half) }),
    burnChecked(fixture, { from: third.publicKey, by, amount: 1n }),
    burnOf(fixture, payer, { burn: fixture.price.burnBaseUnits - 1n }),
    transferOf(fixture, payer, { send: gross(fixture, rest) + more }),
  ]
  return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
}

/** A payment wallet without payments: its account does not exist before the transaction. */
async function payOpening(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const [payer, wallet] = [await newCustomer(fixture), Keypair.generate().publicKey]
  const account = accountOf(fixture, wallet)
  const { mint, program } = fixture
  const opening = createAssociatedTokenAccountInstruction(payer.address, account, wallet, mint, program)
  const amount = gross(fixture, due(fixture)) + more
  const sent = transferChecked(fixture, { from: payer.account, by: payer.address, to: account, amount })
  const signature = await land(fixture, [opening, burnOf(fixture, payer), sent], [payer.keypair])
  const terms = { ...fixture.terms, paymentWallet: addressOf(wallet), paymentTokenAccount: addressOf(account) }
  return { signature, wallet: payer.address, terms }
}

async function payWithBought(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const [buyer, seller] = [Keypair.generate(), await newCustomer(fixture)]
  const account = accountOf(fixture, buyer.publicKey)
  await stage(fixture, [giveSol(fixture, buyer.publicKey)])
  const { mint, program } = fixture
  const instructions = [
    createAssociatedTokenAccountInstruction(buyer.publicKey, account, buyer.publicKey, mint, program),
    transferChecked(fixture, { from: seller.account, by: seller.address, to: account, amount: 5_000_000n }),
    ...payment(
      fixture,
      { keypair: buyer, address: buyer.publicKey, account },
      { send: gross(fixture, due(fixture)) + more },
    ),
  ]
  return { signature: await land(fixture, instructions, [buyer, seller.keypair]), wallet: buyer.publicKey }
}

/** No token balance of the account is reported before or after; only its opening shows its owner. */
async function payFromPassing(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const [payer, passing] = [await newCustomer(fixture), Keypair.generate()]
  const { account: from, address: by } = payer
  const account = passing.publicKey
  const send = gross(fixture, due(fixture)) + more
  const instructions = [
    ...openPlainAccount(fixture, account, by),
    transferChecked(fixture, { from, by, to: account, amount: gross(fixture, fixture.price.burnBaseUnits + send) }),
    ...payment(fixture, payer, { from: account, send }),
    ...closeAccount(fixture, account, by),
  ]
  return { signature: await land(fixture, instructions, [payer.keypair, passing, fixture.issuer]), wallet: by }
}

async function payAndClose(fixture: ChainFixture, more: bigint): Promise<Presented> {
  const send = gross(fixture, due(fixture)) + more
  const payer = await newCustomer(fixture, fixture.price.burnBaseUnits + send)
  const instructions = [...payment(fixture, payer, { send }), ...closeAccount(fixture, payer.account, payer.address)]
  return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
}
