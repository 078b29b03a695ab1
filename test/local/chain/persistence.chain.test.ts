import { cp, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TOKEN_2022_PROGRAM_ID, transferChecked } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test } from 'vitest'
import { ChainDatabase } from '@tollbook/localnet/chainDatabase'
import { type LocalChain, startLocalChain } from '@tollbook/localnet/localChain'
import { connectTo, fund, openChain, makeStateDirectory } from './testChain.ts'
import { confirmed, createPurse, decimals } from './tokenPurse.ts'

test('a restart finds the same chain: genesis, slot, accounts, history and blockhashes', async () => {
  const stateDirectory = await makeStateDirectory()
  const first = await startLocalChain({ slotMs: 20, stateDirectory })
  const connection = connectTo(first)
  const { payer, mint, source, destination } = await createPurse(connection, TOKEN_2022_PROGRAM_ID)
  const signature = await transferChecked(
    connection,
    payer,
    source,
    mint,
    destination,
    payer,
    700n,
    decimals,
    [],
    confirmed,
    TOKEN_2022_PROGRAM_ID,
  )
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
  const before = await connection.getParsedTransaction(signature, options)
  const slot = await connection.getSlot('processed')
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const count = await connection.getTransactionCount()
  await first.close()

  const { chain, connection: again } = await openChain({ stateDirectory })

  expect(chain.genesisHash).toBe(first.genesisHash)
  expect(await again.getSlot('processed')).toBeGreaterThan(slot)
  expect(await again.getParsedTransaction(signature, options)).toEqual(before)
  expect(await again.getTransactionCount()).toBe(count)
  expect((await again.getTokenAccountBalance(destination)).value.amount).toBe('700')
  expect((await again.getTokenAccountsByOwner(payer.publicKey, { mint })).value).toHaveLength(1)
  expect((await again.isBlockhashValid(blockhash, { commitment: 'processed' })).value).toBe(true)
  expect(await again.getSignaturesForAddress(destination)).toHaveLength(2)
})

test('a restarted chain still refuses what has landed, and goes on', async () => {
  const stateDirectory = await makeStateDirectory()
  const address = Keypair.generate().publicKey
  const first = await startLocalChain({ slotMs: 0, stateDirectory })
  const signature = await fund({ chain: first, connection: connectTo(first) }, address)
  const raw = await connectTo(first).getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  await first.close()

  const target = await openChain({ stateDirectory })
  await fund(target, address)

  expect(raw).not.toBeNull()
  expect(await target.connection.getBalance(address)).toBe(20_000_000_000)
  expect(await target.connection.getSignaturesForAddress(address)).toHaveLength(2)
})

test('a dropped fork stays dropped after a restart', async () => {
  const stateDirectory = await makeStateDirectory()
  const address = Keypair.generate().publicKey
  const first = await startLocalChain({ slotMs: 0, stateDirectory })
  const target = { chain: first, connection: connectTo(first) }
  await fund(target, address)
  const point = first.markFork()
  const dropped = await fund(target, address)
  first.advanceSlots(50)
  first.dropFork(point)
  first.advanceSlots(1)
  const { blockhash } = await target.connection.getLatestBlockhash('processed')
  await first.close()

  const { connection } = await openChain({ stateDirectory })

  expect(await connection.getSlot('processed')).toBe(point.slot + 2)
  expect((await connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value).toBe(true)
  expect(await connection.getBalance(address)).toBe(10_000_000_000)
  const status = await connection.getSignatureStatus(dropped, { searchTransactionHistory: true })
  expect(status.value).toBeNull()
})

test('a write that was cut off is dropped, and all before it is kept', async () => {
  const { stateDirectory, address, close } = await chainWithTwoAirdrops()
  const killed = `${stateDirectory}-killed`
  await cp(stateDirectory, killed, { recursive: true })
  await close()
  const log = join(killed, 'chain.sqlite-wal')
  const { size } = await stat(log)
  expect((await stat(join(killed, 'chain.sqlite'))).mode & 0o777).toBe(0o600)
  // The last write is the slot after the second airdrop, and the one before it the airdrop.
  await truncate(log, size - 5_000)

  const target = await openChain({ stateDirectory: killed })
  expect(await target.connection.getBalance(address)).toBe(10_000_000_000)
  await fund(target, address)

  expect(await target.connection.getSignaturesForAddress(address)).toHaveLength(2)
})

test('a damaged file is refused with instructions, and is not touched', async () => {
  const { stateDirectory, close } = await chainWithTwoAirdrops()
  await close()
  const file = join(stateDirectory, 'chain.sqlite')
  const bytes = await readFile(file)
  bytes.fill(7, 0, 200)
  await writeFile(file, bytes)

  await expect(startLocalChain({ slotMs: 0, stateDirectory })).rejects.toThrow(
    'cannot be read: move the directory away to begin a new chain',
  )

  expect(await readFile(file)).toEqual(bytes)
})

test('the state of the previous release is refused with instructions', async () => {
  const stateDirectory = await makeStateDirectory()
  await mkdir(stateDirectory)
  await writeFile(join(stateDirectory, 'journal'), 'entries')

  await expect(startLocalChain({ slotMs: 0, stateDirectory })).rejects.toThrow('was written by Tollbook 0.2: move')
})

test('after a failed write nothing more is written, and each attempt says why', async () => {
  const database = ChainDatabase.inMemory({ hash: Buffer.alloc(32), createdAtSeconds: 0 })
  database.close()

  expect(() => database.addProgram({ address: Buffer.alloc(32), elf: Buffer.alloc(1) })).toThrow('cannot be written')
  expect(() => database.assertWritable()).toThrow('free some space and start again')
})

test('a node on a fork shows the whole past of a restarted chain', async () => {
  const { stateDirectory, address, close } = await chainWithTwoAirdrops()
  await close()

  const { chain, connection } = await openChain({ stateDirectory, nodes: [{}, { fork: true }] })
  chain.advanceSlots(1)

  const forked = connectTo(chain.nodes[1] ?? chain)
  expect(await forked.getSignaturesForAddress(address)).toEqual(await connection.getSignaturesForAddress(address))
  expect(await forked.getBalance(address)).toBe(20_000_000_000)
})

test('a directory in use is refused to a second chain and free again afterwards', async () => {
  const { stateDirectory, close } = await chainWithTwoAirdrops()

  await expect(startLocalChain({ slotMs: 0, stateDirectory })).rejects.toThrow(`in use by process ${process.pid}`)
  await close()

  const { connection } = await openChain({ stateDirectory })
  expect(await connection.getTransactionCount()).toBe(2)
})

test('a port in use is refused, and the directory is not held by the failed start', async () => {
  const stateDirectory = await makeStateDirectory()
  const { chain } = await openChain()
  const port = Number(new URL(chain.rpcUrl).port)

  await expect(startLocalChain({ slotMs: 0, stateDirectory, port })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  )

  await openChain({ stateDirectory })
})

async function chainWithTwoAirdrops() {
  const stateDirectory = await makeStateDirectory()
  const address = Keypair.generate().publicKey
  const chain: LocalChain = await startLocalChain({ slotMs: 0, stateDirectory })
  onTestFinished(() => chain.close())
  const target = { chain, connection: connectTo(chain) }
  await fund(target, address)
  await fund(target, address)
  return { stateDirectory, address, close: () => chain.close() }
}
