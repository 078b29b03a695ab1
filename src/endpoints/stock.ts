import { z } from 'zod'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { neverBuilt } from './neverBuilt.ts'
import { text } from './text.ts'

const symbol = text({
  expected:
    'a ticker such as AAPL, BRK.B or 0700.HK: 1 to 10 letters or digits, then at most one suffix of 1 to 6 after a dot or dash',
  shown: { minLength: 1, maxLength: 17, pattern: '^[A-Za-z0-9]{1,10}([.-][A-Za-z0-9]{1,6})?$' },
  test: (value) => /^[A-Za-z0-9]{1,10}([.-][A-Za-z0-9]{1,6})?$/.test(value),
})

export function createStock(): Endpoint {
  return defineEndpoint({
    path: '/api/data/stock',
    method: 'GET',
    summary: 'Price of a stock',
    schema: z.strictObject({ symbol }),
    ...neverBuilt('stock prices'),
  })
}
