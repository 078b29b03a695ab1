import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { encodeBase58 } from '@tollbook/core/base58'
import { createSignerClient } from '../../src/signer/signerClient.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const address = encodeBase58(new Uint8Array(32).fill(7))
const standing = JSON.stringify({ address, isOpen: true })

/** Starts a signer that answers as `listener` does. */
async function openSigner(listener: RequestListener) {
  const socketPath = `${await makeScratchDirectory()}/signer.sock`
  const server = createServer(listener)
  server.listen(socketPath)
  await once(server, 'listening')
  afterFile(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { socketPath, server }
}

/** A signer whose answers are given by the test. */
async function openSilentSigner() {
  const waiting: ServerResponse[] = []
  const { socketPath, server } = await openSigner((_request, response) => {
    waiting.push(response)
    server.emit('asked')
  })
  return { socketPath, waiting, asked: () => once(server, 'asked') }
}

test('while a signer that did not answer is asked again, offers do not wait for it', async () => {
  const { socketPath, waiting, asked } = await openSilentSigner()
  let nowMs = 0
  const client = createSignerClient({ address: { socketPath }, clock: { nowMs: Date.now, monotonicMs: () => nowMs } })
  const first = client.standing()
  await asked()
  waiting[0]?.destroy()
  await expect(first).rejects.toThrow('does not answer')

  nowMs += 2_000
  const again = asked()
  // The signer holds this question until the end of the test.
  await expect(client.standing()).rejects.toThrow('does not answer')
  await again
  nowMs += 2_000
  await expect(client.standing()).rejects.toThrow('does not answer')
  expect(waiting).toHaveLength(2)

  waiting[1]?.end(standing)
  const isRead = () =>
    client.standing().then(
      () => true,
      () => false,
    )
  await awaitThat('the answer of the signer is read', isRead)
  await expect(client.standing()).resolves.toEqual({ address, whyClosed: undefined })
})

test('a connection that the signer has closed, as it does when it restarts, fails no later question', async () => {
  const seen = new WeakSet<object>()
  const { socketPath } = await openSigner((request, response) => {
    // The end of a connection can reach the client after it has sent its next question over it.
    if (seen.has(request.socket)) return void request.socket.destroy()
    seen.add(request.socket)
    return void response.end(JSON.stringify({ asOf: '2026-11-26T00:00:00.000000Z' }))
  })
  const client = createSignerClient({ address: { socketPath }, clock: { nowMs: Date.now, monotonicMs: () => 0 } })
  for (let question = 1; question <= 3; question++)
    expect(await client.find({ digest: '0'.repeat(64), payer: addressOf(address) })).not.toHaveProperty(
      'signature',
      address,
    )
})

test('a signer that fails has not said that a message was never signed', async () => {
  const answers = [500, 503, 413].map((status) => ({ status, text: JSON.stringify({ error: 'the journal is away' }) }))
  const { socketPath } = await openSigner((_request, response) => {
    const { status, text } = answers.shift() ?? { status: 404, text: JSON.stringify({ asOf: 'now' }) }
    response.writeHead(status).end(text)
  })
  const client = createSignerClient({ address: { socketPath }, clock: { nowMs: Date.now, monotonicMs: () => 0 } })
  const question = { digest: '0'.repeat(64), payer: addressOf(address) }
  for (let failures = answers.length; failures > 0; failures--)
    await expect(client.find(question)).rejects.toMatchObject({ retryable: true })
  expect(await client.find(question)).toEqual({ signature: undefined, asOf: 'now' })
})

test('an outcome that the signer did not record is a failure, and is recorded again later', async () => {
  const { socketPath, waiting, asked } = await openSilentSigner()
  const client = createSignerClient({ address: { socketPath }, clock: { nowMs: Date.now, monotonicMs: () => 0 } })
  const answered = async (status: number) => {
    const recording = client.recordOutcome('0'.repeat(64), 'failed')
    await asked()
    waiting.pop()?.writeHead(status).end('{}')
    return recording
  }
  await expect(answered(500)).rejects.toMatchObject({ retryable: true })
  await expect(answered(200)).resolves.toBeUndefined()
})
