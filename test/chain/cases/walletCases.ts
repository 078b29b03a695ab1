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
} from '../fixtureTokens.ts'
import {
  type Customer,
  type ChainFixture,
  accountOf,
  createAllocation,
  due,
  giveSol,
  gross,
  land,
  newCustomer,
  stage,
} from '../chainFixture.ts'
import { type Presented, casesOf, token2022Kinds } from './verificationCase.ts'

/** Rule 2: the wallet signed, and what counts was its own to give. */
export const walletCases = casesOf([
  {
    rule: '2a',
    says: 'the wallet signs, and another account pays the fee in SOL',
    verdict: 'accepted',
    async pay(fixture) {
      const [payer, sponsor] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      const signature = await land(fixture, payment(fixture, payer), [sponsor.keypair, payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2a',
    says: "another wallet's payment is presented",
    verdict: 'wallet_did_not_sign',
    async pay(fixture) {
      const [payer, thief] = [await newCustomer(fixture), await newCustomer(fixture)]
      return { signature: await land(fixture, payment(fixture, payer), [payer.keypair]), wallet: thief.address }
    },
  },
  {
    rule: '2a',
    says: 'the wallet is named in the transaction, as the owner of an account, but did not sign',
    verdict: 'wallet_did_not_sign',
    async pay(fixture) {
      const [payer, presenter] = [await newCustomer(fixture), Keypair.generate()]
      const account = accountOf(fixture, presenter.publicKey)
      const naming = createAssociatedTokenAccountInstruction(
        payer.address,
        account,
        presenter.publicKey,
        fixture.mint,
        fixture.program,
      )
      const signature = await land(fixture, [naming, ...payment(fixture, payer)], [payer.keypair])
      return { signature, wallet: presenter.publicKey }
    },
  },
  {
    rule: '2b',
    says: 'the wallet pays itself, although it has a delegate',
    verdict: 'accepted',
    async pay(fixture) {
      const [owner, delegate] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      await stage(fixture, [approve(fixture, owner, delegate.address)], [owner.keypair])
      return { signature: await land(fixture, payment(fixture, owner), [owner.keypair]), wallet: owner.address }
    },
  },
  {
    rule: '2b',
    says: "a delegate moves the wallet's tokens while the wallet signs for the fee",
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const [owner, delegate] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      await stage(fixture, [approve(fixture, owner, delegate.address)], [owner.keypair])
      const instructions = payment(fixture, owner, { by: delegate.address })
      return { signature: await land(fixture, instructions, [owner.keypair, delegate.keypair]), wallet: owner.address }
    },
  },
  {
    rule: '2b',
    says: "the wallet burns, but a delegate sends the wallet's tokens",
    verdict: 'transfer_insufficient',
    async pay(fixture) {
      const [owner, delegate] = [await newCustomer(fixture), await newCustomer(fixture, 0n)]
      await stage(fixture, [approve(fixture, owner, delegate.address)], [owner.keypair])
      const instructions = [burnOf(fixture, owner), transferOf(fixture, owner, { by: delegate.address })]
      return { signature: await land(fixture, instructions, [owner.keypair, delegate.keypair]), wallet: owner.address }
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
    async pay(fixture) {
      const owner = await newCustomer(fixture)
      const instructions = payment(fixture, owner, { by: fixture.issuer.publicKey })
      return { signature: await land(fixture, instructions, [owner.keypair, fixture.issuer]), wallet: owner.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet is the delegate and spends another wallet's tokens",
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const [owner, delegate] = [await newCustomer(fixture), await newCustomer(fixture)]
      await stage(fixture, [approve(fixture, owner, delegate.address)], [owner.keypair])
      const instructions = payment(fixture, owner, { by: delegate.address })
      return { signature: await land(fixture, instructions, [delegate.keypair]), wallet: delegate.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet is the permanent delegate and spends another wallet's tokens",
    verdict: 'burn_insufficient',
    kinds: token2022Kinds,
    async pay(fixture) {
      const owner = await newCustomer(fixture)
      const instructions = payment(fixture, owner, { by: fixture.issuer.publicKey })
      return { signature: await land(fixture, instructions, [fixture.issuer]), wallet: fixture.issuer.publicKey }
    },
  },
  {
    rule: '2c',
    says: "the wallet burns its own and, as a delegate, sends another wallet's tokens",
    verdict: 'transfer_insufficient',
    async pay(fixture) {
      const [owner, delegate] = [await newCustomer(fixture), await newCustomer(fixture)]
      await stage(fixture, [approve(fixture, owner, delegate.address)], [owner.keypair])
      const instructions = [burnOf(fixture, delegate), transferOf(fixture, owner, { by: delegate.address })]
      return { signature: await land(fixture, instructions, [delegate.keypair]), wallet: delegate.address }
    },
  },
  {
    rule: '2c',
    says: "the wallet only co-signs another wallet's payment",
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const [payer, coSigner] = [await newCustomer(fixture), await newCustomer(fixture)]
      const signature = await land(fixture, payment(fixture, payer), [coSigner.keypair, payer.keypair])
      return { signature, wallet: coSigner.address }
    },
  },
  {
    rule: '2c',
    says: 'the wallet pays from its own account that is not its associated one',
    verdict: 'accepted',
    async pay(fixture) {
      const { payer, account } = await payerWithPlainAccount(fixture)
      const signature = await land(fixture, payment(fixture, payer, { from: account }), [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2c',
    says: 'the paying account is given away at the end of the transaction',
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const { payer, account } = await payerWithPlainAccount(fixture)
      const giveAway = handOver(fixture, { account, from: payer.address, to: fixture.issuer.publicKey })
      const signature = await land(fixture, [...payment(fixture, payer, { from: account }), giveAway], [payer.keypair])
      return { signature, wallet: payer.address }
    },
  },
  {
    rule: '2c',
    says: 'the paying account belonged to another wallet when the transaction began',
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const { payer: seller, account } = await payerWithPlainAccount(fixture)
      const buyer = await newCustomer(fixture)
      const takeOver = handOver(fixture, { account, from: seller.address, to: buyer.address })
      const instructions = [takeOver, ...payment(fixture, buyer, { from: account })]
      return { signature: await land(fixture, instructions, [buyer.keypair, seller.keypair]), wallet: buyer.address }
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
  fixture: ChainFixture,
): Promise<{ readonly payer: Customer; readonly account: PublicKey }> {
  const [payer, account] = [await newCustomer(fixture), Keypair.generate()]
  const opening = openPlainAccount(fixture, account.publicKey, payer.address)
  await stage(fixture, [...opening, mintTo(fixture, account.publicKey, 5_000_000n)], [account])
  return { payer, account: account.publicKey }
}

async function payFromMultisig(fixture: ChainFixture): Promise<Presented> {
  const [member, multisig] = [await newCustomer(fixture), Keypair.generate()]
  const { program } = fixture
  const account = accountOf(fixture, multisig.publicKey)
  const allocation = { account: multisig.publicKey, payer: fixture.issuer.publicKey, space: MULTISIG_SIZE, program }
  await stage(
    fixture,
    [
      createAllocation(allocation),
      createInitializeMultisigInstruction(multisig.publicKey, [member.address], 1, program),
      createAssociatedTokenAccountInstruction(
        fixture.issuer.publicKey,
        account,
        multisig.publicKey,
        fixture.mint,
        program,
      ),
      mintTo(fixture, account, 5_000_000n),
    ],
    [multisig],
  )
  const spending = { from: account, by: multisig.publicKey, members: [member.keypair] }
  const instructions = [
    burnChecked(fixture, { ...spending, amount: fixture.price.burnBaseUnits }),
    transferChecked(fixture, { ...spending, amount: gross(fixture, due(fixture)) }),
  ]
  return { signature: await land(fixture, instructions, [member.keypair]), wallet: member.address }
}

/** Opened for its owner, filled, spent by the wallet as its delegate, and closed: no balance before or after shows it. */
async function payFromForeignPassingAccount(fixture: ChainFixture): Promise<Presented> {
  const [owner, delegate, passing] = [await newCustomer(fixture), await newCustomer(fixture), Keypair.generate()]
  const account = passing.publicKey
  const needed = fixture.price.burnBaseUnits + gross(fixture, due(fixture))
  await stage(fixture, [giveSol(fixture, owner.address)])
  const instructions = [
    ...openPlainAccount(fixture, account, owner.address),
    transferChecked(fixture, { from: owner.account, by: owner.address, to: account, amount: gross(fixture, needed) }),
    approve(fixture, { account, address: owner.address }, delegate.address),
    ...payment(fixture, delegate, { from: account }),
    ...closeAccount(fixture, account, owner.address),
  ]
  const signers = [delegate.keypair, owner.keypair, passing, fixture.issuer]
  return { signature: await land(fixture, instructions, signers), wallet: delegate.address }
}
