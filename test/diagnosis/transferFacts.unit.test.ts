import { expect, test } from 'vitest'
import type { Address } from '@tollbook/core/address'
import { chainStatement } from '../../src/diagnosis/statements.ts'
import { arrivedBaseUnits, burnedBaseUnits, senderTo, termsOfOneMint } from '../../src/diagnosis/transferFacts.ts'
import type { TokenMovement, TransactionRecord } from '../../src/payment/transactionRecord.ts'
import { sampleAddress } from '../store/samplePayment.ts'

const [token, dollar, ours] = [sampleAddress(), sampleAddress(), sampleAddress()]
const [former, signer, other] = [sampleAddress(), sampleAddress(), sampleAddress()]

function termsOf(mint = token, paymentTokenAccount = ours) {
  return { mint, decimals: 6, tokenProgram: token, paymentWallet: token, paymentTokenAccount, network: 'x' }
}

function change(tokenAccount = ours, mint = token, amountBaseUnits = 0n) {
  return { tokenAccount, mint, ownersSeen: [], beforeBaseUnits: 100n, afterBaseUnits: 100n + amountBaseUnits }
}

function transfer(destination = ours, authority = signer, amountBaseUnits = 1n): TokenMovement {
  return {
    kind: 'transfer',
    tokenProgram: token,
    mint: token,
    authority,
    amountBaseUnits,
    source: authority,
    destination,
  }
}

function recordOf(more: Partial<TransactionRecord>): TransactionRecord {
  const empty = { signers: [signer], movements: [], balances: [], memos: [], bytes: undefined }
  return { signature: '' as never, slot: 7, blockTimeMs: 0, failure: undefined, ...empty, ...more }
}

test('what arrived is the change of our accounts in their mint, less what left them', () => {
  const balances = [
    change(ours, token, 50n),
    change(former, token, -20n),
    change(other, token, 999n),
    change(ours, dollar, 7n),
  ]
  expect(arrivedBaseUnits({ balances }, [termsOf(token, ours), termsOf(token, former)])).toBe(30n)
  expect(arrivedBaseUnits({ balances }, [])).toBe(0n)
})

test('burns of any account count in the mint that is asked for, and transfers do not', () => {
  const burn = (mint = token, amountBaseUnits = 0n): TokenMovement => {
    return { kind: 'burn', tokenProgram: token, mint, authority: token, amountBaseUnits, source: token }
  }
  const movements = [burn(token, 5n), burn(token, 2n), burn(dollar, 100n), transfer(ours, signer, 50n)]
  expect(burnedBaseUnits({ movements }, [termsOf(token)])).toBe(7n)
})

test('the sender owns the account outside from which most tokens of the mint came, although a delegate signed', () => {
  const toUs = (source: Address, authority: Address, amountBaseUnits: bigint): TokenMovement => {
    return { kind: 'transfer', tokenProgram: token, mint: token, destination: ours, source, authority, amountBaseUnits }
  }
  const wallets = [termsOf(), termsOf(token, former)]
  const balances = [{ ...change(other), ownersSeen: [dollar] }]
  const movements = [toUs(former, token, 1_000n), toUs(other, signer, 9n), toUs(token, token, 4n)]
  expect(senderTo(recordOf({ movements, balances }), wallets)).toBe(dollar)
  expect(senderTo(recordOf({ movements }), wallets), 'no owner is shown').toBe(signer)
  const reopened = [{ ...change(other, dollar), ownersSeen: [dollar, signer] }]
  expect(senderTo(recordOf({ movements, balances: reopened }), wallets), 'the account changed hands').toBe(signer)
  expect(senderTo(recordOf({ movements: [transfer(other, former, 1n)] }), wallets)).toBeUndefined()
})

test('amounts are those of the mint that was paid, or else that arrived, or else of the token', () => {
  const all = [termsOf(token, ours), termsOf(dollar, ours), termsOf(token, former)]
  const arrived = recordOf({ balances: [change(ours, dollar, 5n)] })
  expect(termsOfOneMint(all, arrived).map(({ mint }) => mint)).toEqual([dollar])
  expect(termsOfOneMint(all, arrived, token).map(({ mint }) => mint)).toEqual([token, token])
  expect(termsOfOneMint(all, undefined).map(({ mint }) => mint)).toEqual([token, token])
})

test('the chain is stated as it answered: only a proof says that a transaction never landed', () => {
  const found = { kind: 'found', slot: 7, nodes: 1, isAgreed: true } as const
  const landed = recordOf({ balances: [change(ours, token, 5n)] })
  expect(chainStatement({ ...found, record: landed }, [termsOf()])).toMatchObject({
    status: 'confirmed',
    arrivedBaseUnits: '5',
    burnedBaseUnits: '0',
    blockTime: '1970-01-01T00:00:00.000Z',
    signers: [signer],
  })
  const failed = recordOf({ blockTimeMs: undefined, failure: { text: 'no funds', insufficientFunds: true } })
  expect(chainStatement({ ...found, record: failed }, [termsOf()])).toMatchObject({
    status: 'failed',
    words: 'It landed in slot 7 and failed: no funds.',
    blockTime: null,
  })
  const unknown = { kind: 'unknown', why: 'too young', isAgreed: false, slot: 9 } as const
  expect(chainStatement({ ...unknown, isSeen: true }, []).status).toBe('not_confirmed')
  expect(chainStatement({ ...unknown, isSeen: false }, [])).toMatchObject({ status: 'not_found', words: 'too young.' })
  expect(chainStatement({ kind: 'unavailable', why: 'no node' }, [])).toMatchObject({
    status: 'unavailable',
    words: 'no node.',
    arrivedBaseUnits: null,
  })
})
