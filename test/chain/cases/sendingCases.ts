import { createAssociatedTokenAccountInstruction, createTransferCheckedInstruction } from '@solana/spl-token'
import { Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../../../src/payment/settlement.ts'
import { batch, imitated, memo, payment, relayed, transferChecked } from '../fixtureTokens.ts'
import { signedThroughTable } from '../lookupTable.ts'
import {
  type Customer,
  accountOf,
  decimals,
  due,
  gross,
  newCustomer,
  giveSol,
  sendAndConfirm,
  signedBy,
  stage,
} from '../chainFixture.ts'
import { openNonce, signWithNonce } from '../durableNonce.ts'
import { type VerifierFixture, passLandingBound, present, quoteFor, transactionProof } from '../verifierFixture.ts'
import { feeKind } from './verificationCase.ts'
import type { MintKind } from '../chainFixture.ts'
import type { Verdict } from './verificationCase.ts'

/** A signed transaction that we are to send, and how often it may be sent. */
export interface SendingCase {
  readonly rule: string
  readonly says: string
  readonly verdict: Verdict
  readonly kinds: readonly MintKind[]
  readonly present: (verifier: VerifierFixture) => Promise<Settlement | Refusal>
}

/** The plain mint, and the one whose fee makes the most ways of being short. */
export const sendingKinds = ['SPL Token', 'Token-2022 with a transfer fee'] as const

/** Rule 11: a transaction that would not buy is not sent at all, and one that buys is sent as it is. */
export const sendingCases: readonly SendingCase[] = [
  ...acceptedLayouts(),
  ...shortPayments(),
  ...brokenBytes(),
  {
    rule: '11c',
    says: 'the wallet has not signed it',
    verdict: 'wallet_did_not_sign',
    kinds: sendingKinds,
    async present(verifier) {
      const [payer, other] = [await newCustomer(verifier), await newCustomer(verifier)]
      return presentSigned(
        verifier,
        other,
        await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair]),
      )
    },
  },
  {
    rule: '11d',
    says: 'the wallet holds too few tokens',
    verdict: 'INSUFFICIENT_BALANCE',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier, verifier.price.requiredBaseUnits - 1n)
      await quoteFor(verifier, payer)
      return presentSigned(
        verifier,
        payer,
        await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair]),
      )
    },
  },
  {
    rule: '11d',
    says: 'the wallet has no token account at all',
    verdict: 'INSUFFICIENT_BALANCE',
    kinds: sendingKinds,
    async present(verifier) {
      const keypair = Keypair.generate()
      const payer = { keypair, address: keypair.publicKey, account: accountOf(verifier, keypair.publicKey) }
      await stage(verifier, [giveSol(verifier, payer.address)])
      return presentSigned(verifier, payer, await signedBy(verifier.connection, payment(verifier, payer), [keypair]))
    },
  },
  {
    rule: '11e',
    says: 'it would fail, although the wallet could pay',
    verdict: 'simulation_failed',
    kinds: sendingKinds,
    present: (verifier) => presentPaid(verifier, (plain, payer) => [...plain, wrongDecimals(verifier, payer)]),
  },
  {
    rule: '11e',
    says: 'it would fail, and the wallet could pay its quote, but not a quote at the current price',
    verdict: 'simulation_failed',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier, 2n * verifier.price.requiredBaseUnits)
      await quoteFor(verifier, payer)
      const instructions = [...payment(verifier, payer), wrongDecimals(verifier, payer)]
      return presentSigned(verifier, payer, await signedBy(verifier.connection, instructions, [payer.keypair]))
    },
  },
  {
    rule: '11e',
    says: 'its fee payer has no SOL',
    verdict: 'simulation_failed',
    kinds: sendingKinds,
    async present(verifier) {
      const [payer, pauper] = [await newCustomer(verifier), Keypair.generate()]
      const transaction = await signedBy(verifier.connection, payment(verifier, payer), [pauper, payer.keypair])
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11f',
    says: 'no node knows its blockhash, which is too old or too new',
    verdict: 'PAYMENT_PENDING',
    kinds: sendingKinds,
    present: async (verifier) => presentOutdated(verifier, await newCustomer(verifier)),
  },
  {
    rule: '11f',
    says: 'no node knows its blockhash, and the finalized chain is past every block in which it could land',
    verdict: 'blockhash_expired',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const transaction = await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])
      verifier.chain.advanceSlots(200)
      await presentSigned(verifier, payer, transaction)
      await passLandingBound(verifier)
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11g',
    says: 'it has a durable nonce, so it could be sent a year later',
    verdict: 'durable_nonce',
    kinds: sendingKinds,
    present: (verifier) => presentPaid(verifier, (plain, payer) => [advanceNonce(payer), ...plain]),
  },
  {
    rule: '11h',
    says: 'it has landed already',
    verdict: 'accepted',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      await quoteFor(verifier, payer)
      const transaction = await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])
      await sendAndConfirm(verifier, transaction.serialize())
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11h',
    says: 'it has landed already and failed, in a block that is final',
    verdict: 'transaction_failed',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const instructions = [...payment(verifier, payer), wrongDecimals(verifier, payer)]
      const transaction = await signedBy(verifier.connection, instructions, [payer.keypair])
      await sendAndConfirm(verifier, transaction.serialize())
      verifier.chain.advanceSlots(finalitySlots)
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11h',
    says: 'it has landed already and failed, in a block that is not final',
    verdict: 'PAYMENT_PENDING',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const instructions = [...payment(verifier, payer), wrongDecimals(verifier, payer)]
      const transaction = await signedBy(verifier.connection, instructions, [payer.keypair])
      await sendAndConfirm(verifier, transaction.serialize())
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11h',
    says: 'it has a durable nonce and has landed already',
    verdict: 'accepted',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      await quoteFor(verifier, payer)
      const nonce = await openNonce(verifier, payer.keypair)
      const transaction = await signWithNonce(verifier, nonce, payment(verifier, payer))
      await sendAndConfirm(verifier, transaction.serialize())
      return presentSigned(verifier, payer, transaction)
    },
  },
  {
    rule: '11j',
    says: 'it names no account of the token, and no node knows its blockhash',
    verdict: 'burn_insufficient',
    kinds: sendingKinds,
    async present(verifier) {
      const payer = await newCustomer(verifier)
      const transaction = await signedBy(verifier.connection, [memo('not a payment')], [payer.keypair])
      verifier.chain.advanceSlots(200)
      verifier.chain.forgetRequestCounts()
      return presentSigned(verifier, payer, transaction)
    },
  },
]

const finalitySlots = 32

async function presentOutdated(verifier: VerifierFixture, payer: Customer): Promise<Settlement | Refusal> {
  const transaction = await signedBy(verifier.connection, payment(verifier, payer), [payer.keypair])
  verifier.chain.advanceSlots(200)
  return presentSigned(verifier, payer, transaction)
}

/** Rule 11i: what is not signed by all, or is spelled in another way, is refused before any node is asked. */
function brokenBytes(): readonly SendingCase[] {
  const broken = { rule: '11i', verdict: 'signature_invalid', kinds: sendingKinds } as const
  const breaking = (change: (bytes: Buffer) => Uint8Array) => async (verifier: VerifierFixture) => {
    const [payer, sponsor] = [await newCustomer(verifier), await newCustomer(verifier, 0n)]
    const signers = [sponsor.keypair, payer.keypair]
    const bytes = (await signedBy(verifier.connection, payment(verifier, payer), signers)).serialize()
    return presentSigned(verifier, payer, { serialize: () => change(Buffer.from(bytes)) })
  }
  // One byte that says how many there are, and then the signatures.
  const [first, second, end] = [1, 65, 129]
  return [
    { ...broken, says: 'no signer has signed it', present: breaking((bytes) => bytes.fill(0, first, end)) },
    { ...broken, says: 'its fee payer has not signed it', present: breaking((bytes) => bytes.fill(0, first, second)) },
    {
      ...broken,
      says: 'the wallet has not signed it, only its fee payer',
      present: breaking((bytes) => bytes.fill(0, second, end)),
    },
    { ...broken, says: 'one bit of a signature is another', present: breaking((bytes) => flip(bytes, second)) },
    {
      ...broken,
      says: 'one bit of the last amount is another',
      present: breaking((bytes) => flip(bytes, bytes.length - 3)),
    },
    {
      ...broken,
      says: 'an extra byte at the end',
      verdict: 'malformed_proof',
      present: breaking((bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
    },
  ]
}

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes
}

type Arrange = (
  plain: readonly TransactionInstruction[],
  payer: Customer,
  verifier: VerifierFixture,
) => readonly TransactionInstruction[]

function acceptedLayouts(): readonly SendingCase[] {
  const layouts: readonly (readonly [string, Arrange])[] = [
    ['the burn and the transfer that the quote requires', (plain) => plain],
    ['both instructions called by another program', (plain) => plain.map(relayed)],
    ['both instructions in a Batch', (plain, _payer, verifier) => [batch(verifier, plain)]],
    [
      'both instructions in a Batch that another program calls',
      (plain, _payer, verifier) => [relayed(batch(verifier, plain))],
    ],
    ['it opens a token account as well', (plain, payer, verifier) => [openSomebodys(verifier, payer), ...plain]],
    ['memos, one of them called by another program', (plain) => [memo('one'), relayed(memo('two')), ...plain]],
  ]
  return [
    ...layouts.map(([says, arrange]) => ({
      rule: '11a',
      says,
      verdict: 'accepted' as const,
      kinds: sendingKinds,
      present: (verifier: VerifierFixture) => presentPaid(verifier, arrange),
    })),
    {
      rule: '11a',
      says: 'a version 0 transaction with a lookup table',
      verdict: 'accepted',
      kinds: sendingKinds,
      present: (verifier) => presentThroughTable(verifier, 0n),
    },
  ]
}

function shortPayments(): readonly SendingCase[] {
  const short = { rule: '11b', verdict: 'transfer_insufficient', kinds: sendingKinds } as const
  const oneLess = (arrange: Arrange) => (verifier: VerifierFixture) => presentPaid(verifier, arrange, -1n)
  return [
    { ...short, says: 'one base unit short', present: oneLess((plain) => plain) },
    {
      ...short,
      says: 'one base unit short, called by another program',
      present: oneLess((plain) => plain.map(relayed)),
    },
    {
      ...short,
      says: 'one base unit short, in a Batch',
      present: oneLess((plain, _payer, verifier) => [batch(verifier, plain)]),
    },
    {
      ...short,
      says: 'one base unit short, in a Batch that another program calls',
      present: oneLess((plain, _payer, verifier) => [relayed(batch(verifier, plain))]),
    },
    {
      ...short,
      says: 'one base unit short, through a lookup table',
      present: (verifier) => presentThroughTable(verifier, -1n),
    },
    {
      ...short,
      says: 'the required amount, reduced by the transfer fee',
      kinds: feeKind,
      present: (verifier) => presentPaid(verifier, (plain) => plain, due(verifier) - gross(verifier, due(verifier))),
    },
    {
      ...short,
      says: 'the payment is only imitated',
      verdict: 'burn_insufficient',
      present: (verifier) => presentPaid(verifier, (plain) => plain.map(imitated)),
    },
    {
      ...short,
      says: 'one base unit is sent back, called by another program',
      async present(verifier) {
        const payer = await newCustomer(verifier)
        await quoteFor(verifier, payer)
        const { paymentAccount: from, paymentWallet } = verifier
        const back = transferChecked(verifier, { from, by: paymentWallet.publicKey, to: payer.account, amount: 1n })
        const instructions = [...payment(verifier, payer), relayed(back)]
        const transaction = await signedBy(verifier.connection, instructions, [payer.keypair, paymentWallet])
        return presentSigned(verifier, payer, transaction)
      },
    },
  ]
}

/** A customer with a quote signs its payment, arranged in some way and with so much more or less, and presents it. */
async function presentPaid(verifier: VerifierFixture, arrange: Arrange, more = 0n): Promise<Settlement | Refusal> {
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  const plain = payment(verifier, payer, { send: gross(verifier, due(verifier)) + more })
  const transaction = await signedBy(verifier.connection, arrange(plain, payer, verifier), [payer.keypair])
  return presentSigned(verifier, payer, transaction)
}

async function presentThroughTable(verifier: VerifierFixture, more: bigint): Promise<Settlement | Refusal> {
  const payer = await newCustomer(verifier)
  await quoteFor(verifier, payer)
  const plain = payment(verifier, payer, { send: gross(verifier, due(verifier)) + more })
  return presentSigned(verifier, payer, await signedThroughTable(verifier, plain, [payer.keypair]))
}

/** Only what the presentation itself causes is counted. */
function presentSigned(
  verifier: VerifierFixture,
  payer: Pick<Customer, 'address'>,
  transaction: { serialize(): Uint8Array },
): Promise<Settlement | Refusal> {
  verifier.chain.forgetRequestCounts()
  return present(verifier, payer, transactionProof(transaction.serialize()))
}

function wrongDecimals(verifier: VerifierFixture, { account, address }: Customer): TransactionInstruction {
  const { mint, paymentAccount, program } = verifier
  return createTransferCheckedInstruction(account, mint, paymentAccount, address, 1n, decimals + 1, [], program)
}

function openSomebodys({ mint, program, ...verifier }: VerifierFixture, { address }: Customer): TransactionInstruction {
  const owner = Keypair.generate().publicKey
  const account = accountOf({ mint, program, ...verifier }, owner)
  return createAssociatedTokenAccountInstruction(address, account, owner, mint, program)
}

function advanceNonce({ address }: Customer): TransactionInstruction {
  return SystemProgram.nonceAdvance({ noncePubkey: Keypair.generate().publicKey, authorizedPubkey: address })
}
