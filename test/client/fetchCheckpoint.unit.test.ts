import { expect, test } from 'vitest'
import { fetchCheckpoint, fetchConsistency } from '@tollbook/client/fetchCheckpoint'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'

const baseUrl = 'https://api.example'

test('a key that is none is refused for good, and the service is not asked', async () => {
  const fetch = () => Promise.reject(new Error('the service is asked'))
  await expect(fetchCheckpoint({ baseUrl, keys: { kty: 'RSA' }, fetch })).rejects.toMatchObject({ retryable: false })
})

test('a service that does not answer may be asked again', async () => {
  const keys = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
  const fetch = () => Promise.resolve(new Response('', { status: 503 }))
  await expect(fetchCheckpoint({ baseUrl, keys, fetch })).rejects.toMatchObject({ retryable: true })
})

test('a checkpoint is read at the address of the service, and a redirect to another place is not followed', async () => {
  const key = makeReceiptKey()
  const { d: _private, ...keys } = key
  const note = signCheckpoint({ origin: 'o', size: 3, root: Buffer.alloc(32, 5) }, ed25519Signer(key))
  const { url, script } = await openLoopbackServer((_asked, response) => response.end(note))
  expect((await fetchCheckpoint({ baseUrl: url, keys })).checkpoint.size).toBe(3)
  script(({ path }, response) =>
    path === '/moved' ? response.end(note) : response.writeHead(302, { location: '/moved' }).end(),
  )
  await expect(fetchCheckpoint({ baseUrl: url, keys })).rejects.toThrow('did not answer')
})

const notProofs = ['', '[]', '{}', '{"data":{}}', '{"data":{"path":"AAAA"}}', '{"data":{"path":["not base64"]}}']

test.each(notProofs)('an answer without a consistency proof is not an empty proof: %s', async (body) => {
  const fetch = () => Promise.resolve(new Response(body))
  await expect(fetchConsistency(baseUrl, { from: 3, to: 4, fetch })).rejects.toMatchObject({ retryable: true })
})

test('the consistency proof from the smaller size is asked for, and its hashes are read in their order', async () => {
  const fetch = (url: unknown) => {
    expect(String(url)).toBe(`${baseUrl}/api/ledger/consistency/3-4`)
    return Promise.resolve(new Response('{"data":{"path":["AQ==","Ag=="]}}'))
  }
  const hashes = await fetchConsistency(baseUrl, { from: 3, to: 4, fetch })
  expect(hashes.map((hash) => [...hash])).toEqual([[1], [2]])
})
