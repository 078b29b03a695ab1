import { validate } from 'mppx/validation'
import { products } from '../../src/endpoints/catalog.ts'
import { requestOf } from '../../src/endpoints/productFacts.ts'
import { say } from './verdict.ts'

export interface Findings {
  readonly lines: readonly string[]
  readonly wrong: readonly string[]
}

/** `mppx validate` for every product: discovery document, challenge, and the refusal of a malformed credential. It pays nothing on Solana. */
export async function validateByMppx(url: string, pageUrl: string): Promise<Findings> {
  const counts = new Map<string, number>()
  const wrong: string[] = []
  for (const product of products) {
    const { target, body } = requestOf(product, product.demo.order({ pageUrl }))
    const result = await validate({
      url,
      endpoint: `${product.method}:${product.path}`,
      query: [...new URL(target, url).searchParams].map(([name, value]) => `${name}=${value}`),
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: ['accept-payment: solana/charge'],
      skipPayment: true,
      interactive: false,
    })
    const checks = result.endpoints.flatMap(({ challenge, errorHandling }) => [...challenge, ...errorHandling])
    for (const { label, detail, severity } of [...result.discovery.checks, ...checks]) {
      counts.set(severity, (counts.get(severity) ?? 0) + 1)
      if (severity !== 'pass') wrong.push(`mppx validate ${product.path}: ${severity}: ${label} ${detail ?? ''}`)
    }
  }
  const told = [...counts].map(([severity, count]) => `${count} ${severity}`).toSorted()
  const line = `mppx validate, ${products.length} products: ${told.join(', ')}`
  say(line)
  return { lines: [line], wrong }
}
