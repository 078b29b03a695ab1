import { createBurnCheckedInstruction } from '@solana/spl-token'
import { PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { type Address, readAddress } from '@tollbook/core/address'
import { assert, assertPresent } from '@tollbook/core/assert'
import { encodeBase58 } from '@tollbook/core/base58'
import type { Ed25519Signer } from '@tollbook/core/ed25519'
import { memoProgram } from '@tollbook/core/programs'
import { isRefusal } from '@tollbook/core/refusal'
import type { SignedTransaction } from '../payment/proof.ts'
import type { PaymentTerms } from '../payment/settlement.ts'
import { decodeTransaction, readTransaction } from './transactionBytes.ts'

export interface BurnOrder {
  readonly round: number
  readonly baseUnits: bigint
  readonly blockhash: string
}

/**
 * The token program lets a delegate transfer as well as burn. The key therefore signs only burns that it builds itself,
 * and never bytes from a caller.
 */
export interface BurnKey {
  readonly address: Address
  signBurn(order: BurnOrder): SignedTransaction
}

/** Parses the finished bytes again before it signs them, because the key could also sign a transfer. */
export function createBurnKey(key: Ed25519Signer, terms: PaymentTerms): BurnKey {
  const address = assertPresent(readAddress(encodeBase58(key.publicKey)), 'a public key is an address')
  return {
    address,
    signBurn(order) {
      const transaction = buildBurn(order, address, terms)
      assertBurnsOnly(transaction.serialize(), { order, address, terms })
      transaction.signatures[0] = key.sign(transaction.message.serialize())
      const signed = readTransaction(transaction.serialize())
      assert(!isRefusal(signed), 'the signature of the burn holds')
      return signed
    },
  }
}

/** The delegate also pays the fee, so it is the only signer, and its signature is the id of the transaction. */
function buildBurn({ round, baseUnits, blockhash }: BurnOrder, address: Address, terms: PaymentTerms) {
  assert(round >= 1 && baseUnits > 0n, 'a round burns something')
  const [delegate, account, mint, program] = [
    new PublicKey(address),
    new PublicKey(terms.paymentTokenAccount),
    new PublicKey(terms.mint),
    new PublicKey(terms.tokenProgram),
  ]
  const burn = createBurnCheckedInstruction(account, mint, delegate, baseUnits, terms.decimals, [], program)
  // Without the memo, two rounds with the same amount and blockhash would be the same transaction.
  const data = Buffer.from(burnMemo(round))
  const memo = new TransactionInstruction({ programId: new PublicKey(memoProgram), keys: [], data })
  const message = new TransactionMessage({ payerKey: delegate, recentBlockhash: blockhash, instructions: [memo, burn] })
  return new VersionedTransaction(message.compileToV0Message())
}

/** Accounts of a recorded burn. An older burn may have used another key or payment wallet. */
export interface BurnAccounts {
  readonly delegate: Address
  readonly tokenAccount: Address
}

/** Returns the accounts of a burn. The bytes must come from `signBurn`. */
export function readBurnAccounts(bytes: Uint8Array): BurnAccounts {
  const { message } = assertPresent(decodeTransaction(bytes), 'the burn is a transaction')
  const at = (index: number | undefined) => readAddress(message.staticAccountKeys[index ?? -1]?.toBase58() ?? '')
  const [, burn] = message.compiledInstructions
  return {
    delegate: assertPresent(at(0), 'the delegate pays the fee'),
    tokenAccount: assertPresent(at(burn?.accountKeyIndexes[0]), 'a burn names its token account'),
  }
}

function burnMemo(round: number): string {
  return `tollbook-burn:${round}`
}

const burnChecked = 15

interface Expected {
  readonly order: BurnOrder
  readonly address: Address
  readonly terms: PaymentTerms
}

/** Checks the burn without `@solana/spl-token`, which built it, so that a mistake of that library is never signed. */
function assertBurnsOnly(bytes: Uint8Array, { order, address, terms }: Expected): void {
  const { message } = assertPresent(decodeTransaction(bytes), 'the burn is a transaction')
  const keys = message.staticAccountKeys.map((key) => key.toBase58())
  assert(message.header.numRequiredSignatures === 1 && keys[0] === address, 'the delegate alone signs')
  assert(message.addressTableLookups.length === 0, 'no account is hidden in a lookup table')
  const [memo, burn, ...others] = message.compiledInstructions
  assert(memo !== undefined && burn !== undefined && others.length === 0, 'a memo and a burn, nothing else')
  assert(keys[memo.programIdIndex] === memoProgram && memo.accountKeyIndexes.length === 0, 'the first is the memo')
  const accounts = burn.accountKeyIndexes.map((index) => keys[index])
  const expected = [terms.paymentTokenAccount, terms.mint, address]
  assert(keys[burn.programIdIndex] === terms.tokenProgram, 'the second is of the token program')
  assert(accounts.join() === expected.join(), 'it burns the tokens of the payment wallet')
  const { data } = burn
  const amount = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(1, true)
  assert(data[0] === burnChecked && data.length === 10 && amount === order.baseUnits, 'it is the burn of the round')
}
