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
} from '../labTokens.ts'
import { signedThroughTable } from '../lookupTable.ts'
import {
  type Customer,
  type PaymentLab,
  accountOf,
  addressOf,
  due,
  giveSol,
  gross,
  land,
  newCustomer,
  sendAndConfirm,
  stage,
} from '../paymentLab.ts'
import { type Presented, type Verdict, casesOf } from './verificationCase.ts'

interface Layout {
  readonly rule: string
  readonly says: string
  /** Pays in this layout, with so much more or less than what has to be sent. */
  readonly pay: (lab: PaymentLab, more: bigint) => Promise<Presented>
}

/** Rule 5: it does not matter how the transaction is put together. Each way of paying, in full and one base unit short. */
const layouts: readonly Layout[] = [
  { rule: '5a', says: 'a version 0 transaction with a lookup table', pay: payThroughTable },
  { rule: '5b', says: 'both instructions called by another program', pay: paying((_lab, plain) => plain.map(relayed)) },
  { rule: '5c', says: 'both instructions in a Batch', pay: paying((lab, plain) => [batch(lab, plain)]) },
  {
    rule: '5c',
    says: 'both instructions in a Batch that another program calls',
    pay: paying((lab, plain) => [relayed(batch(lab, plain))]),
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
    pay: paying((lab, plain, payer) => [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      memo('for the weather'),
      ...plain,
      memo('tollbooth: of another service', 1),
      SystemProgram.transfer({ fromPubkey: payer.address, toPubkey: lab.issuer.publicKey, lamports: 1_000 }),
    ]),
  },
]

export const layoutCases = casesOf(
  layouts.flatMap(({ rule, says, pay }) => [
    { rule, says, verdict: 'accepted', pay: (lab) => pay(lab, 0n) },
    {
      rule,
      says: `${says}, one base unit short`,
      verdict: 'transfer_insufficient' satisfies Verdict,
      pay: (lab) => pay(lab, -1n),
    },
  ]),
)

type Arrange = (
  lab: PaymentLab,
  plain: readonly TransactionInstruction[],
  payer: Customer,
) => readonly TransactionInstruction[]

function paying(arrange: Arrange) {
  return async (lab: PaymentLab, more: bigint): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const plain = payment(lab, payer, { send: gross(lab, due(lab)) + more })
    return { signature: await land(lab, arrange(lab, plain, payer), [payer.keypair]), wallet: payer.address }
  }
}

async function payThroughTable(lab: PaymentLab, more: bigint): Promise<Presented> {
  const payer = await newCustomer(lab)
  const instructions = payment(lab, payer, { send: gross(lab, due(lab)) + more })
  const transaction = await signedThroughTable(lab, instructions, [payer.keypair])
  return { signature: await sendAndConfirm(lab, transaction.serialize()), wallet: payer.address }
}

async function payFromThree(lab: PaymentLab, more: bigint): Promise<Presented> {
  const [payer, second, third] = [await newCustomer(lab), Keypair.generate(), Keypair.generate()]
  const { address: by } = payer
  const opening = [second, third].flatMap(({ publicKey }) => [
    ...openPlainAccount(lab, publicKey, by),
    mintTo(lab, publicKey, 5_000_000n),
  ])
  await stage(lab, opening, [second, third])
  const [half, rest] = [due(lab) / 2n, due(lab) - due(lab) / 2n]
  const instructions = [
    transferChecked(lab, { from: second.publicKey, by, amount: gross(lab, half) }),
    burnChecked(lab, { from: third.publicKey, by, amount: 1n }),
    burnOf(lab, payer, { burn: lab.price.burnBaseUnits - 1n }),
    transferOf(lab, payer, { send: gross(lab, rest) + more }),
  ]
  return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
}

/** A payment wallet without payments: its account does not exist before the transaction. */
async function payOpening(lab: PaymentLab, more: bigint): Promise<Presented> {
  const [payer, wallet] = [await newCustomer(lab), Keypair.generate().publicKey]
  const account = accountOf(lab, wallet)
  const { mint, program } = lab
  const opening = createAssociatedTokenAccountInstruction(payer.address, account, wallet, mint, program)
  const amount = gross(lab, due(lab)) + more
  const sent = transferChecked(lab, { from: payer.account, by: payer.address, to: account, amount })
  const signature = await land(lab, [opening, burnOf(lab, payer), sent], [payer.keypair])
  const terms = { ...lab.terms, paymentWallet: addressOf(wallet), paymentTokenAccount: addressOf(account) }
  return { signature, wallet: payer.address, terms }
}

async function payWithBought(lab: PaymentLab, more: bigint): Promise<Presented> {
  const [buyer, seller] = [Keypair.generate(), await newCustomer(lab)]
  const account = accountOf(lab, buyer.publicKey)
  await stage(lab, [giveSol(lab, buyer.publicKey)])
  const { mint, program } = lab
  const instructions = [
    createAssociatedTokenAccountInstruction(buyer.publicKey, account, buyer.publicKey, mint, program),
    transferChecked(lab, { from: seller.account, by: seller.address, to: account, amount: 5_000_000n }),
    ...payment(lab, { keypair: buyer, address: buyer.publicKey, account }, { send: gross(lab, due(lab)) + more }),
  ]
  return { signature: await land(lab, instructions, [buyer, seller.keypair]), wallet: buyer.publicKey }
}

/** No token balance of the account is reported before or after; only its opening shows its owner. */
async function payFromPassing(lab: PaymentLab, more: bigint): Promise<Presented> {
  const [payer, passing] = [await newCustomer(lab), Keypair.generate()]
  const { account: from, address: by } = payer
  const account = passing.publicKey
  const send = gross(lab, due(lab)) + more
  const instructions = [
    ...openPlainAccount(lab, account, by),
    transferChecked(lab, { from, by, to: account, amount: gross(lab, lab.price.burnBaseUnits + send) }),
    ...payment(lab, payer, { from: account, send }),
    ...closeAccount(lab, account, by),
  ]
  return { signature: await land(lab, instructions, [payer.keypair, passing, lab.issuer]), wallet: by }
}

async function payAndClose(lab: PaymentLab, more: bigint): Promise<Presented> {
  const send = gross(lab, due(lab)) + more
  const payer = await newCustomer(lab, lab.price.burnBaseUnits + send)
  const instructions = [...payment(lab, payer, { send }), ...closeAccount(lab, payer.account, payer.address)]
  return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
}
