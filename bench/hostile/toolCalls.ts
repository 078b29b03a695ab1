import { readToolAnswer, toolRequest } from '../../test/proofs/callTool.ts'

const metaOfHeader = {
  'x-wallet-address': 'tollbook/wallet',
  'x-payment-proof': 'tollbook/payment-proof',
  'idempotency-key': 'tollbook/idempotency-key',
}

/** A fetch that sends the requests for the product as calls of its tool, and its results as the answers of HTTP. */
export function fetchOverMcp(inner: typeof fetch, baseUrl: string): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== baseUrl || url.pathname !== '/api/data/crypto') return inner(input, init)
    const headers = new Headers(init?.headers)
    const meta = Object.entries(metaOfHeader).map(([header, key]) => [key, headers.get(header) ?? undefined] as const)
    const call = {
      name: 'data_crypto',
      arguments: Object.fromEntries(url.searchParams),
      meta: Object.fromEntries(meta),
    }
    const { path, ...request } = toolRequest(call)
    const response = await inner(`${baseUrl}${path}`, { ...request, ...(init?.signal && { signal: init.signal }) })
    if (response.status !== 200) return response
    const { status, meta: said, ...body } = readToolAnswer(await response.json())
    const receipt = Object(said['tollbook/receipt'])
    const retry = said['tollbook/retry-after-seconds']
    return new Response(JSON.stringify({ ...receipt, ...body }), {
      status,
      headers: {
        'content-type': 'application/json',
        ...(retry === undefined ? {} : { 'retry-after': String(Number(retry)) }),
      },
    })
  }
}
