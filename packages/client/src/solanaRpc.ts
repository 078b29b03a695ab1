import { z } from 'zod'
import { PayerFault } from './errorCode.ts'
import { parseJson, readBody } from './readBody.ts'
import { requireHttpUrl } from './secureUrl.ts'

export type Fetch = typeof globalThis.fetch

export interface SolanaRpc {
  call<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>
}

/** The node read the request and rejected it. */
export class NodeRefusal extends PayerFault {
  override readonly name = 'NodeRefusal'

  constructor({ code, message, data }: z.infer<typeof errorJson>) {
    const hasLanded = data?.err === 'AlreadyProcessed'
    super('NODE_REFUSED', `the Solana node refused: ${message} (${code})`, {
      retryable: hasLanded || !finalCodes.has(code),
    })
  }
}

// Codes after which the same call would fail again: preflight failed, or a signature or parameter is wrong. Preflight
// also fails if a proxy repeats a call that has already landed; that error stays retryable.
const finalCodes = new Set([-32002, -32003, -32602])

const errorJson = z.object({
  code: z.int(),
  message: z.string(),
  data: z.object({ err: z.unknown() }).optional().catch(undefined),
})
const answerJson = z.union([z.object({ error: errorJson }), z.object({ result: z.unknown() })])

// Limits of one call. The largest answer has the data of two accounts.
const nodeTimeoutMs = 10_000
const answerBytesMax = 1024 * 1024

/**
 * Of the URL, error messages contain only the host, because the rest of the URL may contain a key. Throws `NodeRefusal`
 * for an error of the node, otherwise a retryable `Fault`.
 */
export function createSolanaRpc({ url, fetch }: { readonly url: string; readonly fetch: Fetch }): SolanaRpc {
  const { host } = requireHttpUrl(url)
  return {
    async call(method, params, result) {
      const answer = await post({ url, fetch }, { jsonrpc: '2.0', id: 1, method, params }).catch((cause: unknown) => {
        throw new PayerFault('NODE_UNAVAILABLE', `the Solana node at ${host} did not answer ${method}`, {
          cause,
          retryable: true,
        })
      })
      if ('error' in answer) throw new NodeRefusal(answer.error)
      const parsed = result.safeParse(answer.result)
      if (parsed.success) return parsed.data
      throw new PayerFault('NODE_UNAVAILABLE', `the answer of the Solana node at ${host} to ${method} cannot be read`, {
        retryable: true,
      })
    },
  }
}

async function post({ url, fetch }: { readonly url: string; readonly fetch: Fetch }, question: object) {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(question),
    headers: { 'content-type': 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(nodeTimeoutMs),
  })
  const { data } = answerJson.safeParse(parseJson(await readBody(response, answerBytesMax)))
  if (data !== undefined) return data
  // Not the error of Zod, whose message is a list in JSON.
  throw new Error(`HTTP ${response.status} without JSON-RPC: is it the URL of a Solana node?`)
}
