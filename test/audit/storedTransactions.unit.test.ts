import {
  Keypair,
  MessageV0,
  PublicKey,
  Transaction,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import { AuditState } from '../../packages/audit/src/auditState.ts'
import type { DatabaseSource } from '../../packages/audit/src/databaseSource.ts'
import { Findings } from '../../packages/audit/src/findings.ts'
import { StoredTransactions } from '../../packages/audit/src/storedTransactions.ts'
import { readTransactionBytes } from '../../packages/audit/src/transactionBytes.ts'
import { TilesMatch } from '../../packages/audit/src/tilesMatch.ts'
import { encodeBase58 } from '@tollbook/core/base58'
import { assertPresent } from '@tollbook/core/assert'
import { readPrice } from '../../packages/audit/src/price.ts'
import { blockTimeMs, burn, owed, price, served } from './replayedLedger.ts'
import { makeWallet, signedSettlement } from './signedPayment.ts'

const memoProgram = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

test('bytes that are stored after the landing are verified again if they differ from the bytes that were sent', async () => {
  const payer = Keypair.generate()
  const sent = new Transaction({ feePayer: payer.publicKey, recentBlockhash: Keypair.generate().publicKey.toBase58() })
  sent.add(new TransactionInstruction({ keys: [], programId: memoProgram, data: Buffer.from('a payment') })).sign(payer)
  const bytes = sent.serialize()
  const altered = Buffer.from(bytes.toString('latin1').replace('a payment', 'a refund!'), 'latin1')
  const read = assertPresent(served().events[0], 'the ledger has events')
  const stream = `solana:${encodeBase58(assertPresent(sent.signature, 'it is signed'))}`
  const verify = async (...stored: readonly Buffer[]) => {
    const state = AuditState.small()
    const findings = new Findings(state)
    const transactions = new StoredTransactions(findings, state)
    for (const [index, each] of stored.entries()) {
      const signed = () => ({ transactionBase64: each.toString('base64'), isSent: index === 0 })
      transactions.check({ ...read, event: { ...read.event, stream }, signed }, index + 1)
    }
    await transactions.drain()
    return findings.all().map(({ code, position }) => [code, position])
  }
  expect(await verify(bytes, bytes)).toEqual([])
  expect(await verify(bytes, altered)).toEqual([['transaction_bytes_wrong', 2]])
})

test('every signature is verified, and nothing may follow the transaction', async () => {
  const [payer, second] = [Keypair.generate(), Keypair.generate()]
  const both = new Transaction({ feePayer: payer.publicKey, recentBlockhash: Keypair.generate().publicKey.toBase58() })
  const keys = [{ pubkey: second.publicKey, isSigner: true, isWritable: false }]
  both.add(new TransactionInstruction({ keys, programId: memoProgram, data: Buffer.from('two') })).sign(payer, second)
  const bytes = both.serialize()
  const read = assertPresent(served().events[0], 'the ledger has events')
  const stream = `solana:${encodeBase58(assertPresent(both.signature, 'it is signed'))}`
  const messagesOf = async (stored: Buffer) => {
    const state = AuditState.small()
    const findings = new Findings(state)
    const transactions = new StoredTransactions(findings, state)
    const signed = () => ({ transactionBase64: stored.toString('base64') })
    transactions.check({ ...read, event: { ...read.event, stream }, signed }, 1)
    await transactions.drain()
    return findings.all().map(({ message }) => message)
  }
  expect(await messagesOf(bytes)).toEqual([])
  // The second signature begins after the count and the first one.
  const forged = Buffer.from(bytes)
  forged[1 + 64] = (forged[1 + 64] ?? 0) ^ 1
  expect(await messagesOf(forged)).toEqual(['a signature does not hold over the stored bytes'])
  expect(await messagesOf(Buffer.concat([bytes, Buffer.of(0)]))).toEqual(['the stored bytes are not a transaction'])
})

test('a payment whose accounts are in a lookup table is signed, and does not show its amounts', async () => {
  const payer = Keypair.generate()
  const message = new MessageV0({
    header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
    staticAccountKeys: [payer.publicKey, memoProgram],
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    compiledInstructions: [{ programIdIndex: 1, accountKeyIndexes: [], data: Buffer.from('a memo') }],
    addressTableLookups: [{ accountKey: Keypair.generate().publicKey, writableIndexes: [0], readonlyIndexes: [] }],
  })
  const hidden = new VersionedTransaction(message)
  hidden.sign([payer])
  const shown = signedSettlement(makeWallet(), { blockTimeMs })
  const read = assertPresent(served().events[0], 'the ledger has events')
  const figuresOf = async (wallet: string, stream: string, transactionBase64: string | undefined) => {
    const state = AuditState.small()
    const findings = new Findings(state)
    const transactions = new StoredTransactions(findings, state)
    const evidence = { kind: 'solana', slot: 1_000, blockTimeMs, transactionBase64: null } as const
    const amounts = { price: readPrice(price), burnedBaseUnits: BigInt(burn), receivedBaseUnits: BigInt(owed) }
    const payment = { ...amounts, wallet, reference: stream, evidence, memo: null, quoteId: null }
    const signed = () => ({ transactionBase64: transactionBase64 ?? null, payment })
    transactions.check({ ...read, event: { ...read.event, stream }, signed }, 1)
    await transactions.drain()
    return [...findings.all().map(({ message }) => message), transactions.figures]
  }
  expect(await figuresOf(shown.wallet, shown.reference, shown.evidence.transactionBase64)).toEqual([
    { signed: 1, amountsShown: 1, withoutBytes: 0 },
  ])
  const stream = `solana:${encodeBase58(assertPresent(hidden.signatures[0], 'it is signed'))}`
  const base64 = Buffer.from(hidden.serialize()).toString('base64')
  expect(await figuresOf(payer.publicKey.toBase58(), stream, base64)).toEqual([
    { signed: 1, amountsShown: 0, withoutBytes: 0 },
  ])
})

test.each([
  ['255', []],
  ['256', [['tile_differs', 1]]],
])(
  'a tile of 256 leaves may be missing from the database while the newest checkpoint covers %s',
  async (size, found) => {
    const findings = new Findings(AuditState.small())
    const tiles = new TilesMatch(findings, AuditState.small())
    for (let leaf = 0; leaf < 256; leaf++) tiles.add(0, 'a'.repeat(32))
    tiles.add(8, 'b'.repeat(32))
    const rows = (query: string) => Promise.resolve(query.includes('ledger.checkpoints') ? [{ size }] : [])
    await tiles.compare({ rows } as unknown as DatabaseSource, true)
    expect(findings.all().map(({ code, position }) => [code, position])).toEqual(found)
  },
)

test('a length of a transaction has one spelling', () => {
  const payer = Keypair.generate()
  const recentBlockhash = Keypair.generate().publicKey.toBase58()
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash })
  transaction
    .add(new TransactionInstruction({ keys: [], programId: memoProgram, data: Buffer.from('a memo') }))
    .sign(payer)
  const bytes = transaction.serialize()
  expect(readTransactionBytes(bytes)?.instructions).toHaveLength(1)
  // One signature, counted in two bytes.
  expect(readTransactionBytes(Buffer.concat([Buffer.of(0x81, 0), bytes.subarray(1)]))).toBeUndefined()
  expect(readTransactionBytes(bytes.subarray(0, -1))).toBeUndefined()
  expect(readTransactionBytes(Buffer.alloc(0))).toBeUndefined()
})

test('each full tile has the root of its own hashes', async () => {
  const hashOf = (tile: number) => String.fromCharCode(tile + 1).repeat(32)
  const rootOf = (tile: number) => String.fromCharCode(tile + 65).repeat(32)
  const findingsWith = async (roots: readonly string[]) => {
    const findings = new Findings(AuditState.small())
    const tiles = new TilesMatch(findings, AuditState.small())
    for (const tile of roots.keys()) {
      for (let leaf = 0; leaf < 256; leaf++) tiles.add(0, hashOf(tile))
      tiles.add(8, rootOf(tile))
    }
    const rows = roots.map((root, index) => {
      const hashes = Buffer.from(hashOf(index).repeat(256), 'latin1')
      return { level: 0, index: String(index), hashes, root: Buffer.from(root, 'latin1') }
    })
    const answers = (query: string) =>
      query.includes('ledger.checkpoints') ? [{ size: '512' }] : query.includes('unnest') ? rows : []
    // The audit reads these three tables, and nothing else of the source.
    const source = { rows: (query: string) => Promise.resolve(answers(query)) } as unknown as DatabaseSource
    await tiles.compare(source, true)
    return findings.all().map(({ code, position }) => [code, position])
  }
  expect(await findingsWith([rootOf(0), rootOf(1)])).toEqual([])
  expect(await findingsWith([rootOf(0), rootOf(0)])).toEqual([['tile_differs', 257]])
})
