import {
  createApproveCheckedInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnCheckedInstruction,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
  AuthorityType,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { decodeBase58 } from '@tollbook/core/base58'
import type { SponsorProblem } from '../../src/payment/sponsoredTransaction.ts'
import { createFeePayerSigner, whySpent } from '../../src/signer/feePayerSigner.ts'
import { signerKey } from '../support/feePayerKey.ts'
import { openMemoryJournal } from './memoryJournal.ts'
import { lighthouseKey } from './programs.ts'
import { partsOf, signPayment, sponsoredWallets, stockInstructions } from './sponsoredPayment.ts'

const wallets = sponsoredWallets()
const { feePayer, payer, mint, paymentWallet, terms } = wallets
const { limit, price, transfer, memo } = partsOf(wallets)
const limits = { perDayLamports: 10n ** 9n, perWalletAndDayLamports: 10n ** 9n, perPaymentLamports: 20_000n }
const balance = { heldBaseUnits: 10n ** 12n, asOf: '2026-11-26T00:00:00.000000Z' }

function openSigner() {
  const { entries, journal } = openMemoryJournal()
  return { entries, signer: createFeePayerSigner({ key: signerKey(feePayer), journal, limits, terms }) }
}

const thief = Keypair.generate()
const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner, true)
const own = accountOf(payer.publicKey)
const stock = stockInstructions(wallets)
const signed = (...instructions: readonly TransactionInstruction[]) => signPayment(wallets, instructions)
const besides = (...more: readonly TransactionInstruction[]) => signed(...stock, ...more)
const lighthouse = (keys: readonly PublicKey[]) =>
  new TransactionInstruction({
    programId: lighthouseKey,
    keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from([7]),
  })

function withLookupTable(): Uint8Array {
  const table = new AddressLookupTableAccount({
    key: Keypair.generate().publicKey,
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [accountOf(paymentWallet), feePayer.publicKey],
    },
  })
  const recentBlockhash = Keypair.generate().publicKey.toBase58()
  const message = new TransactionMessage({ payerKey: feePayer.publicKey, recentBlockhash, instructions: [...stock] })
  const transaction = new VersionedTransaction(message.compileToV0Message([table]))
  transaction.sign([payer])
  return transaction.serialize()
}

/** Names a table and takes nothing from it, so every account is in the message. */
function withUnusedLookupTable(): Uint8Array {
  const recentBlockhash = Keypair.generate().publicKey.toBase58()
  const message = new TransactionMessage({ payerKey: feePayer.publicKey, recentBlockhash, instructions: [...stock] })
  const compiled = message.compileToV0Message()
  compiled.addressTableLookups.push({
    accountKey: Keypair.generate().publicKey,
    writableIndexes: [],
    readonlyIndexes: [],
  })
  const transaction = new VersionedTransaction(compiled)
  transaction.sign([payer])
  return transaction.serialize()
}

/** The last byte of the memo, after signing. */
function tampered(): Uint8Array {
  const bytes = signPayment(wallets)
  const at = Buffer.from(bytes).indexOf('tollbook:x')
  return bytes.with(at, 'T'.charCodeAt(0))
}

const lamports = { fromPubkey: feePayer.publicKey, toPubkey: thief.publicKey, lamports: 1_000_000 }

const hostile: readonly (readonly [string, Uint8Array, SponsorProblem])[] = [
  ['sends SOL of the fee payer', besides(SystemProgram.transfer(lamports)), 'fee_payer_in_accounts'],
  [
    'sends SOL of the payer by the system program',
    besides(SystemProgram.transfer({ ...lamports, fromPubkey: payer.publicKey })),
    'program',
  ],
  [
    'opens a token account at the cost of the fee payer',
    besides(
      createAssociatedTokenAccountInstruction(feePayer.publicKey, accountOf(thief.publicKey), thief.publicKey, mint),
    ),
    'fee_payer_in_accounts',
  ],
  [
    'opens a token account at the cost of the payer',
    besides(
      createAssociatedTokenAccountInstruction(payer.publicKey, accountOf(thief.publicKey), thief.publicKey, mint),
    ),
    'program',
  ],
  [
    'creates an account at the cost of the fee payer',
    besides(
      SystemProgram.createAccountWithSeed({
        fromPubkey: feePayer.publicKey,
        newAccountPubkey: thief.publicKey,
        basePubkey: feePayer.publicKey,
        seed: 'x',
        lamports: 1_000_000,
        space: 0,
        programId: SystemProgram.programId,
      }),
    ),
    'fee_payer_in_accounts',
  ],
  [
    'gives the account of the fee payer to a program',
    besides(SystemProgram.assign({ accountPubkey: feePayer.publicKey, programId: thief.publicKey })),
    'fee_payer_in_accounts',
  ],
  [
    'advances a durable nonce, so that it can be kept back',
    signed(SystemProgram.nonceAdvance({ noncePubkey: thief.publicKey, authorizedPubkey: payer.publicKey }), ...stock),
    'program',
  ],
  [
    'moves stake of the fee payer',
    besides(
      StakeProgram.deactivate({ stakePubkey: thief.publicKey, authorizedPubkey: feePayer.publicKey }).instructions[0] ??
        memo(),
    ),
    'fee_payer_in_accounts',
  ],
  ['hands the fee payer to an assertion program', besides(lighthouse([feePayer.publicKey])), 'fee_payer_in_accounts'],
  [
    'hands the fee payer to a memo',
    signed(limit(), price(), transfer(), memo('x', [feePayer.publicKey])),
    'fee_payer_in_accounts',
  ],
  [
    'calls an unknown program',
    besides(new TransactionInstruction({ programId: thief.publicKey, keys: [], data: Buffer.alloc(0) })),
    'program',
  ],
  ['has accounts in a lookup table', withLookupTable(), 'lookup_table'],
  ['names a lookup table that it takes no account from', withUnusedLookupTable(), 'lookup_table'],
  [
    'has another fee payer',
    signPayment(wallets, stock, { feePayer: thief.publicKey, cosigners: [thief] }),
    'fee_payer',
  ],
  [
    'needs a third signature',
    signPayment(
      wallets,
      [
        ...stock.slice(0, 3),
        new TransactionInstruction({
          programId: memo().programId,
          data: memo().data,
          keys: [{ pubkey: thief.publicKey, isSigner: true, isWritable: false }],
        }),
      ],
      { cosigners: [thief] },
    ),
    'signers',
  ],
  ['needs the signature of the fee payer alone', signed(limit(), price(), memo()), 'signers'],
  ['moves tokens of the fee payer', signed(limit(), price(), transfer({ authority: feePayer.publicKey })), 'signers'],
  ['was changed after it was signed', tampered(), 'signature'],
  ['has a transaction for a signature', signPayment(wallets).fill(9, 65, 129), 'signature'],
  ['is cut off', signPayment(wallets).subarray(0, 200), 'malformed'],
  ['has bytes after its end', Buffer.concat([signPayment(wallets), Buffer.from([0])]), 'malformed'],
  ['is nothing', new Uint8Array(), 'malformed'],
  ['does not limit its compute units', signed(price(), transfer(), memo()), 'compute_limit'],
  ['limits them twice', signed(limit(), limit(), price(), transfer()), 'compute_limit'],
  ['asks for 1.4 million compute units', signed(limit(1_400_000), price(), transfer()), 'compute_limit'],
  ['does not price its compute units', signed(limit(), transfer(), memo()), 'compute_price'],
  ['pays a tenth of a SOL to the leader', signed(limit(), price(5_000_000_000), transfer()), 'compute_price'],
  ['asks for a larger heap', besides(ComputeBudgetProgram.requestHeapFrame({ bytes: 256 * 1024 })), 'compute_other'],
  ['pays another wallet', signed(limit(), price(), transfer({ to: thief.publicKey })), 'recipient'],
  ['pays itself', signed(limit(), price(), transfer({ to: payer.publicKey })), 'recipient'],
  ['pays by another token', signed(limit(), price(), transfer({ mint: Keypair.generate().publicKey })), 'mint'],
  [
    'pays an account of the other token program',
    signed(
      limit(),
      price(),
      withDestination(transfer(), getAssociatedTokenAddressSync(mint, paymentWallet, true, TOKEN_2022_PROGRAM_ID)),
    ),
    'recipient',
  ],
  ['pays nothing', signed(limit(), price(), transfer({ amount: 0n })), 'amount'],
  ['pays twice', signed(limit(), price(), transfer(), transfer()), 'transfer'],
  [
    'burns tokens of the payer too',
    besides(createBurnCheckedInstruction(own, mint, payer.publicKey, 1n, 6)),
    'transfer',
  ],
  [
    'pays by an unchecked transfer',
    signed(limit(), price(), createTransferInstruction(own, accountOf(paymentWallet), payer.publicKey, 5n)),
    'transfer',
  ],
  [
    'approves a delegate',
    besides(createApproveCheckedInstruction(own, mint, thief.publicKey, payer.publicKey, 5n, 6)),
    'transfer',
  ],
  [
    'closes the account that pays',
    besides(createCloseAccountInstruction(own, thief.publicKey, payer.publicKey)),
    'transfer',
  ],
  [
    'gives the account that pays away',
    besides(createSetAuthorityInstruction(own, payer.publicKey, AuthorityType.AccountOwner, thief.publicKey)),
    'transfer',
  ],
  ['has two memos', besides(memo('again')), 'memo'],
  ['has a memo that is not text', signed(limit(), price(), transfer(), memo(Uint8Array.of(0xff))), 'memo'],
  ['has nine instructions', besides(...Array.from({ length: 5 }, () => lighthouse([own]))), 'length'],
]

function withDestination(instruction: TransactionInstruction, destination: PublicKey): TransactionInstruction {
  const keys = instruction.keys.map((key, index) => (index === 2 ? { ...key, pubkey: destination } : key))
  return new TransactionInstruction({ programId: instruction.programId, data: instruction.data, keys })
}

describe('the signer', () => {
  test('knows enough ways to be robbed', () => expect(hostile.length).toBeGreaterThanOrEqual(25))

  test.each(hostile)('refuses a transaction that %s', async (_name, bytes, problem) => {
    const { signer, entries } = openSigner()
    expect(await signer.sign(bytes, balance)).toEqual({ problem })
    expect(entries).toEqual([])
  })

  test.each([
    ['of the stock client', signPayment(wallets)],
    ["with a wallet's assertions", besides(lighthouse([own]), lighthouse([own]))],
    ['without a memo', signed(limit(), price(), transfer())],
  ])('signs a payment %s, and the signature holds', async (_name, bytes) => {
    const { signer } = openSigner()
    const outcome = await signer.sign(bytes, balance)
    assert('signature' in outcome, 'it is signed')
    const { message } = VersionedTransaction.deserialize(bytes)
    const signature = decodeBase58(outcome.signature, 64) ?? new Uint8Array()
    expect(verifyEd25519({ publicKey: feePayer.publicKey.toBytes(), message: message.serialize(), signature })).toBe(
      true,
    )
  })
})

test('a signature that costs more than one payment may is refused before it is recorded', async () => {
  const { signer, entries } = openSigner()
  const bytes = signed(limit(100_000), price(200_000), transfer())
  expect(await signer.sign(bytes, balance)).toEqual({ rule: 'perPayment' })
  expect(entries).toEqual([])
})

test('a budget is enough while a usual payment can be signed, or the most expensive one that is permitted', () => {
  const whyAt = (leftLamports: bigint, perPaymentLamports: bigint) =>
    whySpent({ lamports: limits.perDayLamports, leftLamports }, { ...limits, perPaymentLamports })
  expect(whyAt(10_001n, 20_000n)).toBeUndefined()
  expect(whyAt(10_000n, 20_000n)).toContain('used up')
  expect(whyAt(6_000n, 6_000n)).toBeUndefined()
  expect(whyAt(5_999n, 6_000n)).toContain('used up')
})
