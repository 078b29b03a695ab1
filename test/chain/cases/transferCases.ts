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
} from '../fixtureTokens.ts'
import { type Customer, type ChainFixture, due, gross, land, newCustomer, stage, withheld } from '../chainFixture.ts'
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
    rehearsed: 'simulation_failed',
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
    async pay(fixture) {
      const [payer, friend] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      const gift = transferChecked(fixture, {
        from: payer.account,
        by: payer.address,
        to: friend.account,
        amount: due(fixture),
      })
      const signature = await land(fixture, [gift, ...payment(fixture, payer)], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '4d',
    says: 'sent to an account of the payment wallet that is not its associated one',
    verdict: 'transfer_insufficient',
    async pay(fixture) {
      const [payer, other] = [await newCustomer(fixture), Keypair.generate()]
      await stage(fixture, openPlainAccount(fixture, other.publicKey, fixture.paymentWallet.publicKey), [other])
      return payTo(fixture, payer, (amount) => ({ to: other.publicKey, amount }))
    },
  },
  {
    rule: '4d',
    says: 'sent to another wallet',
    verdict: 'transfer_insufficient',
    async pay(fixture) {
      const [payer, friend] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      return payTo(fixture, payer, (amount) => ({ to: friend.account, amount }))
    },
  },
  {
    rule: '4d',
    says: 'the bytes of a transfer, for a program that is not a token program',
    verdict: 'transfer_insufficient',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const instructions = [burnOf(fixture, payer), imitated(transferOf(fixture, payer))]
      return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '4e',
    says: 'the payment wallet sends it back in the same transaction',
    verdict: 'transfer_insufficient',
    pay: pulledBack((fixture, amount) => ({ by: fixture.paymentWallet, amount })),
  },
  {
    rule: '4e',
    says: 'one base unit is sent back in the same transaction',
    verdict: 'transfer_insufficient',
    pay: pulledBack((fixture) => ({ by: fixture.paymentWallet, amount: 1n })),
  },
  {
    rule: '4e',
    says: 'one base unit is sent back, by a Batch that another program calls',
    verdict: 'transfer_insufficient',
    pay: pulledBack(
      (fixture) => ({ by: fixture.paymentWallet, amount: 1n }),
      (fixture, back) => relayed(batch(fixture, [back])),
    ),
  },
  {
    rule: '4e',
    says: 'the permanent delegate takes it back in the same transaction',
    verdict: 'transfer_insufficient',
    kinds: token2022Kinds,
    pay: pulledBack((fixture, amount) => ({ by: fixture.issuer, amount })),
  },
  {
    rule: '4e',
    says: 'more than required is sent, and the excess is sent back',
    verdict: 'accepted',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const excess = 500_000n
      const sent = transferOf(fixture, payer, { send: gross(fixture, due(fixture) + excess) })
      const back = {
        from: fixture.paymentAccount,
        by: fixture.paymentWallet.publicKey,
        to: payer.account,
        amount: excess,
      }
      const instructions = [burnOf(fixture, payer), sent, transferChecked(fixture, back)]
      return {
        signature: await land(fixture, instructions, [payer.keypair, fixture.paymentWallet]),
        wallet: payer.address,
      }
    },
  },
  {
    rule: '4f',
    says: 'the required amount is sent, and the transfer fee reduces it',
    verdict: 'transfer_insufficient',
    kinds: feeKind,
    pay: (fixture) => pay(fixture, { send: due(fixture) }),
  },
  {
    rule: '4f',
    says: "the quote's transferWithFeeBaseUnits is sent",
    verdict: 'accepted',
    kinds: feeKind,
    pay: (fixture) => pay(fixture, { send: gross(fixture, due(fixture)) }),
  },
  {
    rule: '4g',
    says: 'twice the amount',
    verdict: 'accepted',
    pay: (fixture) => pay(fixture, { send: 2n * gross(fixture, due(fixture)) }),
  },
  {
    rule: '4g',
    says: 'nothing is sent',
    verdict: 'transfer_insufficient',
    pay: (fixture) => pay(fixture, { send: 0n }),
  },
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
    pay: (fixture) => toppedUp(fixture, { own: gross(fixture, due(fixture)), other: due(fixture) }),
  },
  {
    rule: '4h',
    says: 'another wallet sends the base unit that the wallet omitted',
    verdict: 'transfer_insufficient',
    kinds: withoutFeeKinds,
    pay: (fixture) => toppedUp(fixture, { own: due(fixture) - 1n, other: 1n }),
  },
  {
    rule: '4h',
    says: 'another wallet sends all of it',
    verdict: 'transfer_insufficient',
    pay: (fixture) => toppedUp(fixture, { own: 0n, other: gross(fixture, due(fixture)) }),
  },
  {
    rule: '4h',
    says: 'the wallet sends the required amount, and another wallet compensates the transfer fee',
    verdict: 'accepted',
    kinds: feeKind,
    pay: (fixture) => toppedUp(fixture, { own: due(fixture), other: 2n * withheld(fixture, due(fixture)) }),
  },
])

async function pay(fixture: ChainFixture, changes: Parameters<typeof payment>[2]): Promise<Presented> {
  const payer = await newCustomer(fixture)
  return { signature: await land(fixture, payment(fixture, payer, changes), [payer.keypair]), wallet: payer.address }
}

function sending(instruction: typeof transferChecked, more = 0n) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const { account: from, address: by } = payer
    const sent = instruction(fixture, { from, by, amount: gross(fixture, due(fixture)) + more })
    return { signature: await land(fixture, [burnOf(fixture, payer), sent], [payer.keypair]), wallet: payer.address }
  }
}

type Target = Pick<Parameters<typeof transferChecked>[1], 'to' | 'amount'>

async function payTo(fixture: ChainFixture, payer: Customer, target: (amount: bigint) => Target): Promise<Presented> {
  const sent = transferChecked(fixture, {
    from: payer.account,
    by: payer.address,
    ...target(gross(fixture, due(fixture))),
  })
  return { signature: await land(fixture, [burnOf(fixture, payer), sent], [payer.keypair]), wallet: payer.address }
}

type Wrap = (fixture: ChainFixture, instruction: TransactionInstruction) => TransactionInstruction
type PullBack = (fixture: ChainFixture, amount: bigint) => { readonly by: Keypair; readonly amount: bigint }

function pulledBack(pullBack: PullBack, wrap: Wrap = (_fixture, instruction) => instruction) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const { by, amount } = pullBack(fixture, due(fixture))
    const back = transferChecked(fixture, { from: fixture.paymentAccount, by: by.publicKey, to: payer.account, amount })
    const signature = await land(fixture, [...payment(fixture, payer), wrap(fixture, back)], [payer.keypair, by])
    return { signature, wallet: payer.address }
  }
}

function sendInThree(more: bigint) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const [first, second] = [200_000n, 300_000n]
    // Each transfer rounds its own fee up, so each part is grossed up by itself.
    const parts = [first, second, due(fixture) - first - second].map((part) => gross(fixture, part))
    const transfers = parts.map((part, index) => transferOf(fixture, payer, { send: index === 2 ? part + more : part }))
    const signature = await land(fixture, [...transfers, burnOf(fixture, payer)], [payer.keypair])
    return { signature, wallet: payer.address }
  }
}

interface TopUp {
  readonly own: bigint
  readonly other: bigint
}

async function toppedUp(fixture: ChainFixture, { own, other }: TopUp): Promise<Presented> {
  const [payer, helper] = [await newCustomer(fixture), await newCustomer(fixture)]
  const instructions = [...payment(fixture, payer, { send: own }), transferOf(fixture, helper, { send: other })]
  return { signature: await land(fixture, instructions, [payer.keypair, helper.keypair]), wallet: payer.address }
}
