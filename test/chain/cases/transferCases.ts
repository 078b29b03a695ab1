import { Keypair, type TransactionInstruction } from '@solana/web3.js'
import {
  batch,
  burnOf,
  imitated,
  openPlainAccount,
  payment,
  relayed,
  transfer,
  transferChecked,
  transferCheckedWithFee,
  transferOf,
} from '../labTokens.ts'
import { type Customer, type PaymentLab, due, gross, land, newCustomer, stage, withheld } from '../paymentLab.ts'
import { type Presented, casesOf, feeKind, token2022Kinds, withoutFeeKinds } from './verificationCase.ts'

/** Rule 4: enough arrived from the wallet in the payment wallet's associated account, and stayed there. */
export const transferCases = casesOf([
  {
    rule: '4a',
    says: 'Transfer of the exact amount',
    verdict: 'accepted',
    kinds: withoutFeeKinds,
    pay: sending(transfer),
  },
  {
    rule: '4a',
    says: 'Transfer of one base unit less',
    verdict: 'transfer_insufficient',
    kinds: withoutFeeKinds,
    pay: sending(transfer, -1n),
  },
  {
    rule: '4a',
    says: 'Transfer, which the token program rejects for a mint with a fee',
    verdict: 'transaction_failed',
    kinds: feeKind,
    pay: sending(transfer),
  },
  { rule: '4b', says: 'TransferChecked of the exact amount', verdict: 'accepted', pay: sending(transferChecked) },
  {
    rule: '4b',
    says: 'TransferChecked of one base unit less',
    verdict: 'transfer_insufficient',
    pay: sending(transferChecked, -1n),
  },
  {
    rule: '4c',
    says: 'TransferCheckedWithFee of the exact amount',
    verdict: 'accepted',
    kinds: token2022Kinds,
    pay: sending(transferCheckedWithFee),
  },
  {
    rule: '4c',
    says: 'TransferCheckedWithFee of one base unit less',
    verdict: 'transfer_insufficient',
    kinds: token2022Kinds,
    pay: sending(transferCheckedWithFee, -1n),
  },
  {
    rule: '4d',
    says: "sent to the payment wallet's associated account, and the same amount to another wallet",
    verdict: 'accepted',
    async pay(lab) {
      const [payer, friend] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      const gift = transferChecked(lab, {
        from: payer.account,
        by: payer.address,
        to: friend.account,
        amount: due(lab),
      })
      const signature = await land(lab, [gift, ...payment(lab, payer)], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '4d',
    says: 'sent to an account of the payment wallet that is not its associated one',
    verdict: 'transfer_insufficient',
    async pay(lab) {
      const [payer, other] = [await newCustomer(lab), Keypair.generate()]
      await stage(lab, openPlainAccount(lab, other.publicKey, lab.paymentWallet.publicKey), [other])
      return payTo(lab, payer, (amount) => ({ to: other.publicKey, amount }))
    },
  },
  {
    rule: '4d',
    says: 'sent to another wallet',
    verdict: 'transfer_insufficient',
    async pay(lab) {
      const [payer, friend] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      return payTo(lab, payer, (amount) => ({ to: friend.account, amount }))
    },
  },
  {
    rule: '4d',
    says: 'the bytes of a transfer, for a program that is not a token program',
    verdict: 'transfer_insufficient',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const instructions = [burnOf(lab, payer), imitated(transferOf(lab, payer))]
      return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '4e',
    says: 'the payment wallet sends it back in the same transaction',
    verdict: 'transfer_insufficient',
    pay: pulledBack((lab, amount) => ({ by: lab.paymentWallet, amount })),
  },
  {
    rule: '4e',
    says: 'one base unit is sent back in the same transaction',
    verdict: 'transfer_insufficient',
    pay: pulledBack((lab) => ({ by: lab.paymentWallet, amount: 1n })),
  },
  {
    rule: '4e',
    says: 'one base unit is sent back, by a Batch that another program calls',
    verdict: 'transfer_insufficient',
    pay: pulledBack(
      (lab) => ({ by: lab.paymentWallet, amount: 1n }),
      (lab, back) => relayed(batch(lab, [back])),
    ),
  },
  {
    rule: '4e',
    says: 'the permanent delegate takes it back in the same transaction',
    verdict: 'transfer_insufficient',
    kinds: token2022Kinds,
    pay: pulledBack((lab, amount) => ({ by: lab.issuer, amount })),
  },
  {
    rule: '4e',
    says: 'more than required is sent, and the excess is sent back',
    verdict: 'accepted',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const excess = 500_000n
      const sent = transferOf(lab, payer, { send: gross(lab, due(lab) + excess) })
      const back = { from: lab.paymentAccount, by: lab.paymentWallet.publicKey, to: payer.account, amount: excess }
      const instructions = [burnOf(lab, payer), sent, transferChecked(lab, back)]
      return { signature: await land(lab, instructions, [payer.keypair, lab.paymentWallet]), wallet: payer.address }
    },
  },
  {
    rule: '4f',
    says: 'the required amount is sent, and the transfer fee reduces it',
    verdict: 'transfer_insufficient',
    kinds: feeKind,
    pay: (lab) => pay(lab, { send: due(lab) }),
  },
  {
    rule: '4f',
    says: "the quote's transferWithFeeBaseUnits is sent",
    verdict: 'accepted',
    kinds: feeKind,
    pay: (lab) => pay(lab, { send: gross(lab, due(lab)) }),
  },
  {
    rule: '4g',
    says: 'twice the amount',
    verdict: 'accepted',
    pay: (lab) => pay(lab, { send: 2n * gross(lab, due(lab)) }),
  },
  { rule: '4g', says: 'nothing is sent', verdict: 'transfer_insufficient', pay: (lab) => pay(lab, { send: 0n }) },
  { rule: '4g', says: 'three transfers that suffice together', verdict: 'accepted', pay: sendInThree(0n) },
  {
    rule: '4g',
    says: 'three transfers that are one base unit short',
    verdict: 'transfer_insufficient',
    pay: sendInThree(-1n),
  },
  {
    rule: '4h',
    says: 'another wallet also sends',
    verdict: 'accepted',
    pay: (lab) => toppedUp(lab, { own: gross(lab, due(lab)), other: due(lab) }),
  },
  {
    rule: '4h',
    says: 'another wallet sends the base unit that the wallet omitted',
    verdict: 'transfer_insufficient',
    kinds: withoutFeeKinds,
    pay: (lab) => toppedUp(lab, { own: due(lab) - 1n, other: 1n }),
  },
  {
    rule: '4h',
    says: 'another wallet sends all of it',
    verdict: 'transfer_insufficient',
    pay: (lab) => toppedUp(lab, { own: 0n, other: gross(lab, due(lab)) }),
  },
  {
    rule: '4h',
    says: 'the wallet sends the required amount, and another wallet compensates the transfer fee',
    verdict: 'accepted',
    kinds: feeKind,
    pay: (lab) => toppedUp(lab, { own: due(lab), other: 2n * withheld(lab, due(lab)) }),
  },
])

async function pay(lab: PaymentLab, changes: Parameters<typeof payment>[2]): Promise<Presented> {
  const payer = await newCustomer(lab)
  return { signature: await land(lab, payment(lab, payer, changes), [payer.keypair]), wallet: payer.address }
}

function sending(instruction: typeof transferChecked, more = 0n) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const { account: from, address: by } = payer
    const sent = instruction(lab, { from, by, amount: gross(lab, due(lab)) + more })
    return { signature: await land(lab, [burnOf(lab, payer), sent], [payer.keypair]), wallet: payer.address }
  }
}

type Target = Pick<Parameters<typeof transferChecked>[1], 'to' | 'amount'>

async function payTo(lab: PaymentLab, payer: Customer, target: (amount: bigint) => Target): Promise<Presented> {
  const sent = transferChecked(lab, { from: payer.account, by: payer.address, ...target(gross(lab, due(lab))) })
  return { signature: await land(lab, [burnOf(lab, payer), sent], [payer.keypair]), wallet: payer.address }
}

type Wrap = (lab: PaymentLab, instruction: TransactionInstruction) => TransactionInstruction
type PullBack = (lab: PaymentLab, amount: bigint) => { readonly by: Keypair; readonly amount: bigint }

function pulledBack(pullBack: PullBack, wrap: Wrap = (_lab, instruction) => instruction) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const { by, amount } = pullBack(lab, due(lab))
    const back = transferChecked(lab, { from: lab.paymentAccount, by: by.publicKey, to: payer.account, amount })
    const signature = await land(lab, [...payment(lab, payer), wrap(lab, back)], [payer.keypair, by])
    return { signature, wallet: payer.address }
  }
}

function sendInThree(more: bigint) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const [first, second] = [200_000n, 300_000n]
    // Each transfer rounds its own fee up, so each part is grossed up by itself.
    const parts = [first, second, due(lab) - first - second].map((part) => gross(lab, part))
    const transfers = parts.map((part, index) => transferOf(lab, payer, { send: index === 2 ? part + more : part }))
    const signature = await land(lab, [...transfers, burnOf(lab, payer)], [payer.keypair])
    return { signature, wallet: payer.address }
  }
}

interface TopUp {
  readonly own: bigint
  readonly other: bigint
}

async function toppedUp(lab: PaymentLab, { own, other }: TopUp): Promise<Presented> {
  const [payer, helper] = [await newCustomer(lab), await newCustomer(lab)]
  const instructions = [...payment(lab, payer, { send: own }), transferOf(lab, helper, { send: other })]
  return { signature: await land(lab, instructions, [payer.keypair, helper.keypair]), wallet: payer.address }
}
