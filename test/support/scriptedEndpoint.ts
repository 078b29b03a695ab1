import { z } from 'zod'
import type { Endpoint } from '../../src/product/endpoint.ts'
import type { Job, Outcome } from '../../src/product/product.ts'
import { openTestEndpoint } from './testProduct.ts'

/** An endpoint whose handler does what the test says, at the path of one that is sold. */
export interface ScriptedEndpoint {
  readonly endpoint: Endpoint
  readonly order: { readonly path: string }
  /** Outcomes of the next runs, in turn; afterwards it delivers. */
  script(...steps: readonly ((job: Job) => Promise<Outcome>)[]): void
  runs(): number
}

export const delivers: Outcome = {
  kind: 'delivered',
  data: { answer: 42 },
  meta: { source: 'test', asOf: '2026-11-21T00:00:00.000Z', cached: false },
}

export function scriptedEndpoint(): ScriptedEndpoint {
  let runs = 0
  let queue: ((job: Job) => Promise<Outcome>)[] = []
  const endpoint = openTestEndpoint({
    path: '/api/data/crypto',
    parameters: z.strictObject({ symbol: z.string() }),
    deliver: (_parameters, job) => {
      runs++
      const step = queue.shift()
      return step === undefined ? Promise.resolve(delivers) : step(job)
    },
  })
  return {
    endpoint,
    order: { path: '/api/data/crypto?symbol=BTC' },
    script(...steps) {
      queue = [...steps]
    },
    runs: () => runs,
  }
}

/** Replaces the endpoint of the same path. */
export function withEndpoint(scripted: Pick<ScriptedEndpoint, 'endpoint'>) {
  return (inner: readonly Endpoint[]) => [
    scripted.endpoint,
    ...inner.filter(({ path }) => path !== scripted.endpoint.path),
  ]
}
