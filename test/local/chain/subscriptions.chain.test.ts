import { once } from 'node:events'
import { join } from 'node:path'
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { encodeBase58 } from '@tollbook/core/base58'
import type { LocalChain } from '@tollbook/localnet/localChain'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { eventually, fundedKeypair, openChain } from './testChain.ts'

test('a signature is notified at each commitment exactly when it is reached, and then its subscription is closed', async () => {
  const { chain, connection } = await openChain()
  const socket = await openSocket(chain)
  const signature = await connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)
  const slot = await connection.getSlot('processed')
  const numbers: number[] = []
  for (const commitment of ['processed', 'confirmed', 'finalized']) {
    numbers.push(await socket.subscribe('signatureSubscribe', [signature, { commitment }]))
  }
  const notified = async () => (await socket.settled()).map(({ params }) => params?.subscription)

  expect(await notified()).toEqual([numbers[0]])
  chain.advanceSlots(1)
  expect(await notified()).toEqual(numbers.slice(0, 2))
  chain.advanceSlots(30)
  expect(await notified()).toEqual(numbers.slice(0, 2))
  chain.advanceSlots(1)
  expect(await notified()).toEqual(numbers)
  chain.advanceSlots(40)
  expect(await notified()).toEqual(numbers)
  expect((await socket.settled()).at(-1)).toMatchObject({
    method: 'signatureNotification',
    params: { result: { context: { slot }, value: { err: null } } },
  })
})

test('a failed transaction is notified with its error', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const latest = await connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: payer.publicKey, ...latest }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1e15 }),
  )
  transaction.sign(payer)
  const signature = encodeBase58(transaction.signature ?? Buffer.alloc(0))
  const socket = await openSocket(chain)
  await socket.subscribe('signatureSubscribe', [signature, { commitment: 'confirmed' }])

  await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  chain.advanceSlots(1)

  const [settled] = (await socket.settled()).map(({ params }) => params?.result)
  expect(settled).toMatchObject({ value: { err: { InstructionError: [0, { Custom: 1 }] } } })
})

test('after unsubscribing no notification is sent, and an unknown number is refused', async () => {
  const target = await openChain()
  const socket = await openSocket(target.chain)
  const signature = await target.connection.requestAirdrop(Keypair.generate().publicKey, 1_000_000)
  const number = await socket.subscribe('signatureSubscribe', [signature, { commitment: 'confirmed' }])

  expect(await socket.ask('signatureUnsubscribe', [number])).toMatchObject({ result: true })
  target.chain.advanceSlots(1)

  expect(await socket.settled()).toEqual([])
  expect(await socket.ask('signatureUnsubscribe', [number + 1])).toMatchObject({ error: { code: -32602 } })
})

test('a dropped fork takes back notifications that were not sent yet', async () => {
  const target = await openChain()
  const { chain, connection } = target
  const payer = await fundedKeypair(target)
  const socket = await openSocket(chain)
  const point = chain.markFork()
  const signature = await connection.requestAirdrop(payer.publicKey, 1_000_000)
  await socket.subscribe('signatureSubscribe', [signature, { commitment: 'confirmed' }])

  chain.dropFork(point)
  chain.advanceSlots(40)

  expect(await socket.settled()).toEqual([])
})

test('a WebSocket that talks nonsense is answered with errors and stays usable', async () => {
  const { chain } = await openChain()
  const socket = await openSocket(chain)

  for (const text of [
    '',
    '{',
    '[]',
    '{"jsonrpc":"2.0","id":1,"method":"getSlot"}',
    '{"jsonrpc":"2.0","id":1,"method":"signatureSubscribe","params":["x"]}',
  ]) {
    socket.send(text)
  }

  expect((await socket.settledErrors()).map((error) => error?.code)).toEqual([-32700, -32700, -32600, -32601, -32602])
  expect(await socket.subscribe('signatureSubscribe', ['1'.repeat(64)])).toBeGreaterThan(0)
})

const message = z.object({
  id: z.union([z.number(), z.null()]).optional(),
  method: z.string().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
  params: z.object({ subscription: z.number(), result: z.unknown() }).optional(),
})

type Message = z.output<typeof message>

test.each([
  ['in memory, which ends for good,', undefined, 1_000],
  ['with a directory, which may be started again,', 'chain', 1_001],
])('a chain %s closes its sockets with that meaning', async (_, directory, code) => {
  const stateDirectory =
    directory === undefined ? {} : { stateDirectory: join(await makeScratchDirectory(), directory) }
  const { chain } = await openChain(stateDirectory)
  const socket = new WebSocket(chain.wsUrl)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  await chain.close()
  expect((await closed)[0]).toBe(code)
})

/** A bare WebSocket, so that the test sees every message and their order. */
async function openSocket(chain: LocalChain) {
  const socket = new WebSocket(chain.wsUrl)
  const received: Message[] = []
  socket.on('message', (data: Buffer) => received.push(message.parse(JSON.parse(data.toString('utf8')))))
  onTestFinished(() => socket.terminate())
  await new Promise((resolve) => socket.once('open', resolve))
  let lastId = 0
  const ask = async (method: string, params: readonly unknown[]): Promise<Message> => {
    lastId += 1
    const id = lastId
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return eventually(() => received.find((each) => each.id === id))
  }
  // An answer comes after all that was sent before it, so this waits exactly long enough.
  const settle = () => ask('signatureUnsubscribe', [-1])
  return {
    ask,
    send: (text: string) => socket.send(text),
    subscribe: async (method: string, params: readonly unknown[]) =>
      z.number().parse((await ask(method, params)).result),
    settled: async () => {
      await settle()
      return received.filter(({ method }) => method !== undefined)
    },
    settledErrors: async () => {
      await settle()
      return received.slice(0, -1).map(({ error }) => error)
    },
  }
}
