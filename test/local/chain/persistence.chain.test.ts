import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TOKEN_2022_PROGRAM_ID, transferChecked } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test } from 'vitest'
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

test('an entry that was cut off in the middle of its write is dropped, and all before it is kept', async () => {
  const { stateDirectory, address, close } = await chainWithTwoAirdrops()
  await close()
  const journal = join(stateDirectory, 'journal')
  const { length } = await readFile(journal)
  await truncate(journal, length - 7)

  const target = await openChain({ stateDirectory })
  expect(await target.connection.getBalance(address)).toBe(10_000_000_000)
  await fund(target, address)

  expect(await target.connection.getSignaturesForAddress(address)).toHaveLength(2)
})

test('a lost slot file costs only the empty slots', async () => {
  const { stateDirectory, address, close } = await chainWithTwoAirdrops()
  await close()
  await writeFile(join(stateDirectory, 'slot'), 'nonsense')

  const { connection } = await openChain({ stateDirectory })

  expect(await connection.getBalance(address)).toBe(20_000_000_000)
})

test('a journal with a flipped bit is refused with a word of what to do, and is not touched', async () => {
  const { stateDirectory, close } = await chainWithTwoAirdrops()
  await close()
  const journal = join(stateDirectory, 'journal')
  const bytes = await readFile(journal)
  bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200)
  await writeFile(journal, bytes)

  await expect(startLocalChain({ slotMs: 0, stateDirectory })).rejects.toThrow(
    /is damaged at byte \d+: move its directory/,
  )

  expect(await readFile(journal)).toEqual(bytes)
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
