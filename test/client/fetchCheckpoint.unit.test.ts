import { expect, test } from 'vitest'
import { fetchCheckpoint, fetchConsistency } from '@tollbook/client/fetchCheckpoint'

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

const notProofs = ['', '[]', '{}', '{"data":{}}', '{"data":{"path":"AAAA"}}', '{"data":{"path":["not base64"]}}']

test.each(notProofs)('an answer without a consistency proof is not an empty proof: %s', async (body) => {
  const fetch = () => Promise.resolve(new Response(body))
  await expect(fetchConsistency(baseUrl, { from: 3, to: 4, fetch })).rejects.toMatchObject({ retryable: true })
})

test('the hashes of a consistency proof are read in their order', async () => {
  const fetch = () => Promise.resolve(new Response('{"data":{"path":["AQ==","Ag=="]}}'))
  const hashes = await fetchConsistency(baseUrl, { from: 3, to: 4, fetch })
  expect(hashes.map((hash) => [...hash])).toEqual([[1], [2]])
})
