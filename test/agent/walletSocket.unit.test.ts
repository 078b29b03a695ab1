import { chmod, lstat, mkdir, rename, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { askWallet, sendToWallet } from '@tollbook/agent/client/socketRequest'
import { connectWallet } from '@tollbook/agent/client/walletClient'
import { startWallet } from '@tollbook/agent/wallet/walletProcess'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { makeAgentFolder } from './support/agentFolder.ts'

/* A socket that is not the wallet's: its process could read every request, and forge every answer. */

const policy = {
  rpcUrl: 'http://127.0.0.1:1',
  hosts: {},
  mints: { [Keypair.generate().publicKey.toBase58()]: { name: 'TOLL', usdPerToken: '0.001' } },
}
const newFolder = () => makeAgentFolder(Keypair.generate().secretKey, policy)

/** A process that claims to be the wallet. */
async function openImpostor() {
  const path = `${await makeScratchDirectory()}/impostor.sock`
  let asked = 0
  const server = createServer((_request, response) => {
    asked++
    response.end(JSON.stringify({ pid: process.pid, address: 'an impostor' }))
  })
  await new Promise<void>((resolve) => void server.listen(path, resolve))
  afterFile(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return { path, asked: () => asked }
}

test('a front end does not follow a link to another socket', async () => {
  const impostor = await openImpostor()
  const { socket } = await newFolder()
  await symlink(impostor.path, socket)
  const sent = sendToWallet({ socket, method: 'POST', path: '/fetch', body: { intent: 'pay' } })
  await expect(sent).rejects.toMatchObject({ code: 'ENOENT' })
  expect([await askWallet(socket), impostor.asked()]).toEqual([undefined, 0])
})

test('a front end sends nothing into a folder in which other users can replace the socket', async () => {
  const folder = await newFolder()
  const wallet = await startWallet({ folder, report: () => undefined })
  afterFile(wallet.close)
  expect(await askWallet(folder.socket)).toMatchObject({ pid: process.pid })
  await chmod(folder.path, 0o777)
  expect(await askWallet(folder.socket)).toBeUndefined()
  await chmod(folder.path, 0o700)
  expect(await askWallet(folder.socket)).toMatchObject({ pid: process.pid })
})

test('a wallet that finds a link serves its own socket instead', async () => {
  const impostor = await openImpostor()
  const folder = await newFolder()
  await symlink(impostor.path, folder.socket)
  const wallet = await startWallet({ folder, report: () => undefined })
  afterFile(wallet.close)
  expect([wallet.server === undefined, (await lstat(folder.socket)).isSocket(), impostor.asked()]).toEqual([
    false,
    true,
    0,
  ])
})

test('a wallet whose lock cannot be read says so at once, and waits for no other process', async () => {
  const folder = await newFolder()
  await mkdir(join(folder.path, 'wallet.lock'))
  await expect(startWallet({ folder, report: () => undefined })).rejects.toMatchObject({ code: 'EISDIR' })
})

test('a wallet whose socket was moved behind a link notices that it is replaced', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = await newFolder()
  const wallet = await startWallet({ folder, report: () => undefined })
  afterFile(wallet.close)
  await rename(folder.socket, `${folder.socket}.own`)
  await symlink(`${folder.socket}.own`, folder.socket)
  vi.advanceTimersByTime(5_000)
  await wallet.replaced
})

test('a request waits until the wallet knows of every answer that was received before it', async () => {
  const folder = await newFolder()
  const asked: string[] = []
  const first = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const isFirst = asked.push(request.url ?? '') === 1
    void (isFirst ? first.promise : Promise.resolve()).then(() => response.end('{}'))
  })
  await new Promise<void>((resolve) => void server.listen(folder.socket, resolve))
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const wallet = connectWallet(folder, systemClock)
  const payment = { usd: '0.01', signature: 'signature', mint: 'mint', baseUnits: '7' }
  const slow = wallet.received(payment)
  await awaitThat('the first one is asked', () => asked.length === 1)
  await wallet.received(payment)
  const status = wallet.retry('signature').then(() => asked.length)
  // The answers to later questions show that the retry would have arrived by now.
  for (let later = 0; later < 5; later++) await sendToWallet({ socket: folder.socket, method: 'GET', path: '/open' })
  expect(asked).not.toContain('/retry')
  first.resolve()
  await slow
  expect(await status).toBe(8)
  expect(asked.at(-1)).toBe('/retry')
})
