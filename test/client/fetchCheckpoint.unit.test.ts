import { expect, test } from 'vitest'
import { fetchCheckpoint } from '@tollbook/client/fetchCheckpoint'

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
