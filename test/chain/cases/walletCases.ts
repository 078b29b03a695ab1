import {
  createAssociatedTokenAccountInstruction,
  createInitializeMultisigInstruction,
  MULTISIG_SIZE,
} from '@solana/spl-token'
import { Keypair, type PublicKey } from '@solana/web3.js'
import {
  approve,
  burnChecked,
  burnOf,
  closeAccount,
  handOver,
  mintTo,
  openPlainAccount,
  payment,
  transferChecked,
  transferOf,
} from '../labTokens.ts'
import {
  type Customer,
  type PaymentLab,
  accountOf,
  createAllocation,
  due,
  giveSol,
  gross,
  land,
  newCustomer,
  stage,
} from '../paymentLab.ts'
import { type Presented, casesOf, token2022Kinds } from './verificationCase.ts'

/** Rule 2: the wallet signed, and what counts was its own to give. */
export const walletCases = casesOf([
  {
    rule: '2a',
    says: 'the wallet signs, and another account pays the fee in SOL',
    verdict: 'accepted',
    async pay(lab) {
      const [payer, sponsor] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      const signature = await land(lab, payment(lab, payer), [sponsor.keypair, payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2a',
    says: "another wallet's payment is presented",
    verdict: 'wallet_did_not_sign',
    async pay(lab) {
      const [payer, thief] = [await newCustomer(lab), await newCustomer(lab)]
      return { signature: await land(lab, payment(lab, payer), [payer.keypair]), wallet: thief.address }
    },
  },
  {
    rule: '2a',
    says: 'the wallet is named in the transaction, as the owner of an account, but did not sign',
    verdict: 'wallet_did_not_sign',
    async pay(lab) {
      const [payer, named] = [await newCustomer(lab), Keypair.generate()]
      const account = accountOf(lab, named.publicKey)
      const naming = createAssociatedTokenAccountInstruction(
        payer.address,
        account,
        named.publicKey,
        lab.mint,
        lab.program,
      )
      const signature = await land(lab, [naming, ...payment(lab, payer)], [payer.keypair])
      return { signature, wallet: named.publicKey }
    },
  },
  {
    rule: '2b',
    says: 'the wallet pays itself, although it has a delegate',
    verdict: 'accepted',
    async pay(lab) {
      const [owner, delegate] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      await stage(lab, [approve(lab, owner, delegate.address)], [owner.keypair])
      return { signature: await land(lab, payment(lab, owner), [owner.keypair]), wallet: owner.address }
    },
  },
  {
    rule: '2b',
    says: "a delegate moves the wallet's tokens while the wallet signs for the fee",
    verdict: 'burn_insufficient',
    async pay(lab) {
      const [owner, delegate] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      await stage(lab, [approve(lab, owner, delegate.address)], [owner.keypair])
      const instructions = payment(lab, owner, { by: delegate.address })
      return { signature: await land(lab, instructions, [owner.keypair, delegate.keypair]), wallet: owner.address }
    },
  },
  {
    rule: '2b',
    says: "the wallet burns, but a delegate sends the wallet's tokens",
    verdict: 'transfer_insufficient',
    async pay(lab) {
      const [owner, delegate] = [await newCustomer(lab), await newCustomer(lab, 0n)]
      await stage(lab, [approve(lab, owner, delegate.address)], [owner.keypair])
      const instructions = [burnOf(lab, owner), transferOf(lab, owner, { by: delegate.address })]
      return { signature: await land(lab, instructions, [owner.keypair, delegate.keypair]), wallet: owner.address }
    },
  },
  {
    rule: '2b',
    says: 'a multisig pays, and the wallet is the member that signs for it',
    verdict: 'burn_insufficient',
    pay: payFromMultisig,
  },
  {
    rule: '2b',
    says: "the permanent delegate moves the wallet's tokens while the wallet signs for the fee",
    verdict: 'burn_insufficient',
    kinds: token2022Kinds,
    async pay(lab) {
      const owner = await newCustomer(lab)
      const instructions = payment(lab, owner, { by: lab.issuer.publicKey })
      return { signature: await land(lab, instructions, [owner.keypair, lab.issuer]), wallet: owner.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet is the delegate and spends another wallet's tokens",
    verdict: 'burn_insufficient',
    async pay(lab) {
      const [owner, delegate] = [await newCustomer(lab), await newCustomer(lab)]
      await stage(lab, [approve(lab, owner, delegate.address)], [owner.keypair])
      const instructions = payment(lab, owner, { by: delegate.address })
      return { signature: await land(lab, instructions, [delegate.keypair]), wallet: delegate.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet is the permanent delegate and spends another wallet's tokens",
    verdict: 'burn_insufficient',
    kinds: token2022Kinds,
    async pay(lab) {
      const owner = await newCustomer(lab)
      const instructions = payment(lab, owner, { by: lab.issuer.publicKey })
      return { signature: await land(lab, instructions, [lab.issuer]), wallet: lab.issuer.publicKey }
    },
  },
  {
    rule: '2c',
    says: "the wallet burns its own and, as a delegate, sends another wallet's tokens",
    verdict: 'transfer_insufficient',
    async pay(lab) {
      const [owner, delegate] = [await newCustomer(lab), await newCustomer(lab)]
      await stage(lab, [approve(lab, owner, delegate.address)], [owner.keypair])
      const instructions = [burnOf(lab, delegate), transferOf(lab, owner, { by: delegate.address })]
      return { signature: await land(lab, instructions, [delegate.keypair]), wallet: delegate.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet only co-signs another wallet's payment",
    verdict: 'burn_insufficient',
    async pay(lab) {
      const [payer, coSigner] = [await newCustomer(lab), await newCustomer(lab)]
      const signature = await land(lab, payment(lab, payer), [coSigner.keypair, payer.keypair])
      return { signature, wallet: coSigner.address }
    },
  },
  {
    rule: '2c',
    says: 'the wallet pays from its own account that is not its associated one',
    verdict: 'accepted',
    async pay(lab) {
      const { payer, account } = await payerWithPlainAccount(lab)
      const signature = await land(lab, payment(lab, payer, { from: account }), [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2c',
    says: 'the paying account is given away at the end of the transaction',
    verdict: 'burn_insufficient',
    async pay(lab) {
      const { payer, account } = await payerWithPlainAccount(lab)
      const giveAway = handOver(lab, { account, from: payer.address, to: lab.issuer.publicKey })
      const signature = await land(lab, [...payment(lab, payer, { from: account }), giveAway], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2c',
    says: 'the paying account belonged to another wallet when the transaction began',
    verdict: 'burn_insufficient',
    async pay(lab) {
      const { payer: seller, account } = await payerWithPlainAccount(lab)
      const buyer = await newCustomer(lab)
      const takeOver = handOver(lab, { account, from: seller.address, to: buyer.address })
      const instructions = [takeOver, ...payment(lab, buyer, { from: account })]
      return { signature: await land(lab, instructions, [buyer.keypair, seller.keypair]), wallet: buyer.address }
    },
  },
  {
    rule: '2c',
    says: 'the paying account belonged to another wallet and existed only within the transaction',
    verdict: 'burn_insufficient',
    pay: payFromForeignPassingAccount,
  },
])

async function payerWithPlainAccount(
  lab: PaymentLab,
): Promise<{ readonly payer: Customer; readonly account: PublicKey }> {
  const [payer, account] = [await newCustomer(lab), Keypair.generate()]
  const opening = openPlainAccount(lab, account.publicKey, payer.address)
  await stage(lab, [...opening, mintTo(lab, account.publicKey, 5_000_000n)], [account])
  return { payer, account: account.publicKey }
}

async function payFromMultisig(lab: PaymentLab): Promise<Presented> {
  const [member, multisig] = [await newCustomer(lab), Keypair.generate()]
  const { program } = lab
  const account = accountOf(lab, multisig.publicKey)
  const allocation = { account: multisig.publicKey, payer: lab.issuer.publicKey, space: MULTISIG_SIZE, program }
  await stage(
    lab,
    [
      createAllocation(allocation),
      createInitializeMultisigInstruction(multisig.publicKey, [member.address], 1, program),
      createAssociatedTokenAccountInstruction(lab.issuer.publicKey, account, multisig.publicKey, lab.mint, program),
      mintTo(lab, account, 5_000_000n),
    ],
    [multisig],
  )
  const spending = { from: account, by: multisig.publicKey, members: [member.keypair] }
  const instructions = [
    burnChecked(lab, { ...spending, amount: lab.price.burnBaseUnits }),
    transferChecked(lab, { ...spending, amount: gross(lab, due(lab)) }),
  ]
  return { signature: await land(lab, instructions, [member.keypair]), wallet: member.address }
}

/** Opened for its owner, filled, spent by the wallet as its delegate, and closed: no balance before or after shows it. */
async function payFromForeignPassingAccount(lab: PaymentLab): Promise<Presented> {
  const [owner, delegate, passing] = [await newCustomer(lab), await newCustomer(lab), Keypair.generate()]
  const account = passing.publicKey
  const needed = lab.price.burnBaseUnits + gross(lab, due(lab))
  await stage(lab, [giveSol(lab, owner.address)])
  const instructions = [
    ...openPlainAccount(lab, account, owner.address),
    transferChecked(lab, { from: owner.account, by: owner.address, to: account, amount: gross(lab, needed) }),
    approve(lab, { account, address: owner.address }, delegate.address),
    ...payment(lab, delegate, { from: account }),
    ...closeAccount(lab, account, owner.address),
  ]
  const signers = [delegate.keypair, owner.keypair, passing, lab.issuer]
  return { signature: await land(lab, instructions, signers), wallet: delegate.address }
}
