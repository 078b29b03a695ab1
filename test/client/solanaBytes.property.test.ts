import {
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnCheckedInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nonceMemo, paymentInstructions } from '@tollbook/client/buildPayment'
import { keypairWallet } from '@tollbook/client/payerWallet'
import type { PaymentPlan } from '@tollbook/client/planPayment'
import { associatedTokenAccount } from '@tollbook/client/solana/programAddress'
import { memoInstruction } from '@tollbook/client/solana/instructions'
import { buildTransaction, feePayerSignature } from '@tollbook/client/solana/transaction'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import { memoProgram } from '@tollbook/core/programs'
import { rounds } from '../support/rounds.ts'

/** The client writes transactions itself; @solana/web3.js and @solana/spl-token say what each byte must be. */

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes))
const keypair = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((seed) => Keypair.fromSeed(seed))
const program = fc.constantFrom(TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID)
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const decimals = fc.integer({ min: 0, max: 255 })
const memo = fc.string({ unit: 'binary', maxLength: 100 })
const blockhash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeBase58)

const payment = fc.record({
  payer: keypair,
  mint: key,
  program,
  decimals,
  burned: u64,
  sent: fc.oneof(u64, fc.constant(0n)),
  wallet: key,
  paysOneself: fc.boolean(),
  creates: fc.boolean(),
  memo,
  blockhash,
})

type Payment = typeof payment extends fc.Arbitrary<infer T> ? T : never

function address(key: PublicKey) {
  return assertPresent(readAddress(key.toBase58()), 'a public key is an address')
}

function paymentWalletOf({ payer, wallet, paysOneself }: Payment): PublicKey {
  return paysOneself ? payer.publicKey : wallet
}

function ours(given: Payment): Uint8Array {
  const { payer, mint, program, creates } = given
  const wallet = paymentWalletOf(given)
  const quote = {
    id: 'quote_1',
    endpoint: '/',
    memo: given.memo,
    secret: '',
    network: '',
    mint: address(mint),
    tokenProgram: address(program),
    paymentWallet: address(wallet),
    paymentTokenAccount: address(getAssociatedTokenAddressSync(mint, wallet, true, program)),
    decimals: given.decimals,
    priceAttoUsd: 0n,
    requiredBaseUnits: 0n,
    burnBaseUnits: given.burned,
    transferBaseUnits: given.sent,
    transferWithFeeBaseUnits: undefined,
    lifetimeMs: 1,
  }
  const cost = { attoUsd: 0n, baseUnits: 0n }
  const plan: PaymentPlan = { quote, sentBaseUnits: given.sent, createsTokenAccount: creates, cost }
  const feePayer = payer.publicKey.toBase58()
  const instructions = paymentInstructions(plan, feePayer, given.memo)
  return buildTransaction({ feePayer, blockhash: given.blockhash, instructions })
}

function memoOf(text: string): TransactionInstruction {
  return new TransactionInstruction({ programId: new PublicKey(memoProgram), keys: [], data: Buffer.from(text) })
}

function theirs(given: Payment): VersionedTransaction {
  const { payer, mint, program, decimals } = given
  const { publicKey } = payer
  const wallet = paymentWalletOf(given)
  const [from, to] = [publicKey, wallet].map((owner) => getAssociatedTokenAddressSync(mint, owner, true, program))
  if (from === undefined || to === undefined) throw new Error('two accounts')
  const creates = createAssociatedTokenAccountIdempotentInstruction(publicKey, to, wallet, mint, program)
  const sends = createTransferCheckedInstruction(from, mint, to, publicKey, given.sent, decimals, [], program)
  const instructions = [
    ...(given.creates ? [creates] : []),
    createBurnCheckedInstruction(from, mint, publicKey, given.burned, decimals, [], program),
    memoOf(given.memo),
    ...(given.sent > 0n ? [sends] : []),
  ]
  const message = new TransactionMessage({ payerKey: publicKey, recentBlockhash: given.blockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message())
}

describe('byte for byte what @solana/web3.js and @solana/spl-token build', () => {
  test('a payment, of any amount, with any memo, in both token programs', () => {
    fc.assert(
      fc.property(payment, (given) => {
        expect(Buffer.from(ours(given)).toString('hex')).toBe(Buffer.from(theirs(given).serialize()).toString('hex'))
      }),
      { numRuns: rounds(50) },
    )
  })

  test('a signed payment, from a keypair of web3.js and from the 64 bytes of its secret key', async () => {
    await fc.assert(
      fc.asyncProperty(payment, async (given) => {
        const { payer } = given
        const expected = theirs(given)
        expected.sign([payer])
        for (const wallet of [keypairWallet(payer), keypairWallet(payer.secretKey)]) {
          const signed = await wallet.signTransaction(ours(given))
          expect(wallet.address).toBe(payer.publicKey.toBase58())
          expect(Buffer.from(signed).equals(expected.serialize())).toBe(true)
          expect(feePayerSignature(signed, wallet.address)).toBe(encodeBase58(expected.signatures[0] ?? Buffer.of()))
        }
      }),
      { numRuns: rounds(25) },
    )
  })

  test('the address of a token account, of wallets on the curve and off it', () => {
    fc.assert(
      fc.property(key, key, program, (wallet, mint, program) => {
        const owner = { wallet: wallet.toBase58(), mint: mint.toBase58(), tokenProgram: program.toBase58() }
        const expected = getAssociatedTokenAddressSync(mint, wallet, true, program)
        expect(associatedTokenAccount(owner)).toBe(expected.toBase58())
      }),
      { numRuns: rounds(50) },
    )
  })
})

test('a transaction that does not fit into a packet is not built', () => {
  const { publicKey } = Keypair.generate()
  const feePayer = publicKey.toBase58()
  const build = (length: number) =>
    buildTransaction({ feePayer, blockhash: feePayer, instructions: [memoInstruction('m'.repeat(length))] })
  const longest = 1_232 - build(200).length + 200
  expect(build(longest)).toHaveLength(1_232)
  expect(() => build(longest + 1)).toThrow('at most 1232 bytes (got 1233)')
  expect(() => buildTransaction({ feePayer, blockhash: 'x', instructions: [] })).toThrow('x is not base58 of 32 bytes')
  expect(nonceMemo()).not.toBe(nonceMemo())
})
