import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { text } from './text.ts'

const symbol = text({
  expected:
    'a symbol such as BTC: 1 to 20 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
  shown: { minLength: 1, maxLength: 20, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$' },
  test: (value) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/.test(value),
})

export function createCrypto(): Endpoint {
  return defineEndpoint({
    path: '/api/data/crypto',
    method: 'GET',
    summary: 'Price of a cryptocurrency',
    schema: z.strictObject({ symbol }),
    ...neverBuilt('crypto prices'),
  })
}
