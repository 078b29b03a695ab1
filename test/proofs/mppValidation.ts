import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { products } from '../support/builtinProducts.ts'
import { type ProductFacts, requestOf } from '../../src/product/productFacts.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { say } from './verdict.ts'

export interface Findings {
  readonly lines: readonly string[]
  readonly wrong: readonly string[]
}

// The command has its libraries bundled; `mppx/validation` imports one that the package does not install.
const command = fileURLToPath(new URL('../../node_modules/mppx/dist/bin.js', import.meta.url))
const checks = z.array(z.object({ label: z.string(), detail: z.string().optional(), severity: z.string() }))
const validation = z.object({
  discovery: z.object({ checks }),
  endpoints: z.array(z.object({ challenge: checks, errorHandling: checks })),
})

/**
 * `mppx validate` for every product: discovery document, challenge, and refusal of a malformed credential. It cannot
 * pay on Solana.
 */
export async function validateByMppx(baseUrl: string, pageUrl: string): Promise<Findings> {
  const counts = new Map<string, number>()
  const wrong: string[] = []
  for (const product of products) {
    const { discovery, endpoints } = await validate(baseUrl, pageUrl, product)
    const found = endpoints.flatMap(({ challenge, errorHandling }) => [...challenge, ...errorHandling])
    for (const { label, detail = '', severity } of [...discovery.checks, ...found]) {
      counts.set(severity, (counts.get(severity) ?? 0) + 1)
      if (severity !== 'pass') wrong.push(`mppx validate ${product.path}: ${severity}: ${label} ${detail}`)
    }
  }
  const totals = [...counts].map(([severity, count]) => `${count} ${severity}`).toSorted()
  const line = `mppx validate, ${products.length} products: ${totals.join(', ')}`
  say(line)
  return { lines: [line], wrong }
}

async function validate(baseUrl: string, pageUrl: string, product: ProductFacts) {
  const { target, body } = requestOf(product, product.demo.order({ pageUrl }))
  const query = [...new URL(target, baseUrl).searchParams].flatMap(([name, value]) => ['--query', `${name}=${value}`])
  const sent = body === undefined ? [] : ['--body', JSON.stringify(body)]
  const options = ['--endpoint', `${product.method}:${product.path}`, '--header', 'accept-payment:solana/charge']
  const output = await run([command, 'validate', baseUrl, ...options, ...query, ...sent, '-j'])
  return validation.parse(JSON.parse(output))
}

/** The command leaves before a pipe has taken its output, so it writes into a file. Its exit code repeats the findings. */
async function run(args: readonly string[]): Promise<string> {
  const directory = await makeTemporaryDirectory()
  try {
    const file = await open(`${directory.path}/output`, 'w+')
    await using _closed = file
    await once(spawn(process.execPath, args, { stdio: ['ignore', file.fd, 'ignore'] }), 'exit')
    return await readFile(`${directory.path}/output`, 'utf8')
  } finally {
    await directory.remove()
  }
}
