import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { expect, test, vi } from 'vitest'
import type { WalletClient } from '@tollbook/agent/client/walletClient'
import { runAgentCommand, untilIdle } from '@tollbook/agent/agentCommand'
import { payOnce } from '@tollbook/agent/payOnce'
import { utf8Bytes } from '@tollbook/core/bytes'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { makeAgentFolder } from './support/agentFolder.ts'

async function run(...argv: readonly string[]) {
  const printed = { stdout: '', stderr: '' }
  const code = await runAgentCommand(argv, {
    stdout: { write: (text) => void (printed.stdout += text) },
    stderr: { write: (text) => void (printed.stderr += text) },
    stopped: AbortSignal.abort(),
  })
  return { code, ...printed }
}

test('the help lists the commands', async () => {
  expect(await run('mcp', '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('wallet serve') })
})

test.each([
  ['no command', []],
  ['an unknown command', ['spend']],
  ['a member of all objects', ['constructor']],
  ['an unknown option', ['mcp', '--limit', '5']],
  ['a mistyped subcommand', ['mcp', 'inti']],
  ['a folder whose socket would have too long a path', ['wallet', 'serve', '--folder', `/tmp/${'x'.repeat(96)}`]],
  ['a port that is not a number', ['proxy', '--port', 'x']],
  ['a port that is too high', ['proxy', '--port', '65536']],
  ['a purchase without a URL', ['pay', 'GET']],
])('%s is wrong usage', async (_name, argv) => {
  expect(await run(...argv)).toMatchObject({ code: 2, stdout: '' })
})

test('each front end says that the policy is missing, and starts nothing', async () => {
  const folder = join(await makeScratchDirectory(), 'wallet')
  for (const words of [['mcp'], ['proxy'], ['wallet', 'serve'], ['pay', 'GET', 'https://api.example.com/']])
    expect(await run(...words, '--folder', folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mcp init'),
    })
  expect(await run('mcp', 'init', '--folder', folder)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--service'),
  })
})

const policy = {
  rpcUrl: 'https://node.example.com',
  hosts: {},
  mints: { So11111111111111111111111111111111111111112: { name: 'TOLL', usdPerToken: '0.001' } },
}

test('a proxy that is stopped ends, although a client has not sent its whole request', async () => {
  const folder = await makeAgentFolder(Keypair.generate().secretKey, policy)
  const [stopped, port] = [new AbortController(), Promise.withResolvers<number>()]
  const write = (text: string) => /^proxy on \S+:(\d+)/.test(text) && port.resolve(Number(/:(\d+)\n/.exec(text)?.[1]))
  const argv = ['proxy', '--port', '0', '--folder', folder.path]
  const ended = runAgentCommand(argv, { stdout: { write }, stderr: { write }, stopped: stopped.signal })
  const place = `127.0.0.1:${await port.promise}`
  const socket = connect(await port.promise, '127.0.0.1')
  const key = (await readFile(folder.proxyKey, 'utf8')).trim()
  const head = [`POST /${key}/api.example.com/ HTTP/1.1`, `host: ${place}`, 'content-length: 9', 'expect: 100-continue']
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  expect(String(await once(socket, 'data'))).toContain('100 Continue')
  stopped.abort()
  expect(await ended).toBe(0)
  await once(socket, 'close')
})

test.each([[], ['--exit-when-idle']])(
  'a wallet that is stopped while it starts serves nothing: %j',
  async (...option) => {
    const folder = await makeAgentFolder(Keypair.generate().secretKey, policy)
    const served = await run('wallet', 'serve', '--folder', folder.path, ...option)
    expect(served).toMatchObject({ code: 0, stdout: expect.stringContaining('is served by process') })
  },
)

test('a wallet is idle 15 minutes after its last answer, however long that took', async () => {
  vi.useFakeTimers()
  try {
    const server = createServer()
    const ended = vi.fn()
    void untilIdle(server).then(ended)
    const streams = [new EventEmitter(), new EventEmitter()]
    for (const stream of streams) server.emit('request', {}, stream)
    streams[0]?.emit('close')
    await vi.advanceTimersByTimeAsync(3_600_000)
    streams[1]?.emit('close')
    await vi.advanceTimersByTimeAsync(899_000)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(ended).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})

test('only an answer of 2xx is a success of pay', async () => {
  const unused = () => Promise.reject(new Error('not called'))
  const walletThat = (status: number): WalletClient => ({
    request: () =>
      Promise.resolve({ kind: 'answer', status, headers: {}, bytes: utf8Bytes('text'), payment: undefined }),
    open: unused,
    retry: unused,
    received: unused,
    read: unused,
  })
  const stream = { write: () => undefined }
  const order = { method: 'GET', url: 'https://api.example.com/', json: undefined, maxUsd: undefined }
  const pay = (status: number) => payOnce(walletThat(status), order, { stdout: stream, stderr: stream })
  expect(await Promise.all([200, 299, 300, 304, 404].map(pay))).toEqual([true, true, false, false, false])
})
