import { Keypair, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type TestChain, call, fundedKeypair, openChain, post } from './testChain.ts'
import { rounds } from '../../support/rounds.ts'

/*
 * litesvm aborts its process on bytes that it cannot read, so these tests are about more than an answer: when one of
 * them lets something through, the whole test run ends here without a word.
 */

test('no bytes in place of a transaction stop the chain', async () => {
  const { chain } = await openChain()

  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 1_300 }), fc.constantFrom(...senders), async (bytes, method) => {
      const wire = Buffer.from(bytes).toString('base64')
      const { error } = await call(chain, method, wire, { encoding: 'base64', skipPreflight: true })
      expect(error?.code).toBe(-32602)
    }),
    { numRuns: rounds(300) },
  )
})

test('no damage to a good transaction, legacy or v0, stops the chain or moves money', async () => {
  const target = await openChain()
  const payer = await fundedKeypair(target)
  const wires = [await legacyWire(target, payer), await versionedWire(target, payer)]
  const damage = fc.record({
    wire: fc.constantFrom(...wires),
    edits: fc.array(fc.record({ at: fc.nat({ max: 400 }), value: fc.nat({ max: 255 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    cut: fc.option(fc.nat({ max: 400 })),
    grow: fc.option(fc.nat({ max: 40 })),
    method: fc.constantFrom(...senders),
  })

  await fc.assert(
    fc.asyncProperty(damage, async ({ wire, edits, cut, grow, method }) => {
      const bytes = Buffer.from(wire)
      for (const { at, value } of edits) if (at < bytes.length) bytes.writeUInt8(value, at)
      const shaped = Buffer.concat([bytes.subarray(0, cut ?? bytes.length), Buffer.alloc(grow ?? 0, 0x81)])
      fc.pre(!shaped.subarray(0, wire.length).equals(wire))
      await call(target.chain, method, shaped.toString('base64'), { encoding: 'base64', skipPreflight: true })
    }),
    { numRuns: rounds(700) },
  )

  expect(await target.connection.getBalance(payer.publicKey)).toBe(10_000_000_000)
})

test('no body stops the chain, and every answer is JSON-RPC', async () => {
  const { chain } = await openChain()
  const methods = ['getAccountInfo', 'getTransaction', 'getProgramAccounts', 'getSignaturesForAddress', 'x']
  const json = fc.jsonValue({ maxDepth: 3 })
  const request = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: json,
    method: fc.constantFrom(...methods),
    params: json,
  })
  const parameters = fc.array(fc.oneof(json, fc.constant('1'.repeat(32)), fc.constant('1'.repeat(64)), fc.integer()), {
    maxLength: 3,
  })
  const plausible = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.nat(),
    method: fc.constantFrom(...methods),
    params: parameters,
  })
  const body = fc.oneof(
    fc.string(),
    json.map((value) => JSON.stringify(value)),
    request.map((value) => JSON.stringify(value)),
    plausible.map((value) => JSON.stringify(value)),
  )

  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const response = await post(chain, text)
      expect([200, 204]).toContain(response.status)
      if (response.status === 200) expect(JSON.stringify(await response.json())).not.toContain('-32603')
    }),
    { numRuns: rounds(700) },
  )

  expect((await call(chain, 'getHealth')).result).toBe('ok')
})

const senders = ['sendTransaction', 'simulateTransaction'] as const

async function legacyWire({ connection }: TestChain, payer: Keypair): Promise<Buffer> {
  const latest = await connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(transferFrom(payer))
  transaction.sign(payer)
  return transaction.serialize()
}

async function versionedWire({ connection }: TestChain, payer: Keypair): Promise<Buffer> {
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const instructions = [transferFrom(payer)]
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  return Buffer.from(transaction.serialize())
}

function transferFrom(payer: Keypair) {
  const toPubkey = Keypair.generate().publicKey
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 1_000_000 })
}
