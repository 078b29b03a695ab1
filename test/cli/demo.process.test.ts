import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { products } from '../support/builtinProducts.ts'
import { newcomerEnv } from '../support/localProcess.ts'
import { providersOutOfReach } from '../support/providersOutOfReach.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
async function runDemo(home: string) {
  const command = [file('src/cli/tollbook.js'), 'demo', '--once']
  // Other tests do without a browser; here pages are rendered.
  const env = { ...newcomerEnv(home), ...(await providersOutOfReach()), RENDER_CONCURRENCY: '1' }
  const run = promisify(execFile)(process.execPath, command, { env })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )
}

describe('the demo', () => {
  test('without flags and without providers buys all products of the envelope as samples, uses a tab, and the ledger agrees', async () => {
    const { code, stdout, stderr } = await runDemo(await makeScratchDirectory())
    expect(stderr).toBe('')
    expect(code).toBe(0)
    for (const line of [
      /SOL at \$[\d.]+, [+-][\d.]+% in 24 hours/,
      /London, United Kingdom: -?[\d.]+ °C/,
      /AAPL at \$[\d.]+/,
      /3 articles, the first: "Sample: /,
      /a QR code as SVG of 200x200, which parses/,
      /a picture of 800 by 600 pixels/,
      /a document of 3 pages/,
      /sample-model: "Sample reply: /,
      /deposited 1000 tokens on the tab \w+; none of them is burned yet/,
      /10 QR codes at once, each by one signed debit: 50 tokens/,
      /closed; the rest of 950 tokens is owed to the wallet that paid/,
      /Owed by the ledger for the tab: 15 to the burn, 950 to the wallet/,
    ])
      expect(stdout).toMatch(line)
    const bought = products.filter(({ stream }) => stream === undefined)
    const sampled = bought.filter(({ providers }) => providers.length > 0)
    expect(stdout.match(/source sample:/g)).toHaveLength(sampled.length)
    // The paid request of the beginning is one more.
    expect(stdout).toContain(`Of ${bought.length + 1} payments`)
    expect(stdout).toContain('They agree to the base unit.')
  })
})
