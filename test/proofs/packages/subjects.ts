/** A package, and a small use of it in a folder that has nothing else. */
export interface Subject {
  readonly name: string
  /** Tarballs installed together, because none of them is in a registry. */
  readonly needs: readonly string[]
  /**
   * Body of an async function. `load` is `import()` in an ESM project and `require` in a CommonJS project; `local` is
   * the `local.json` of a running service. Its output must equal `prints`.
   */
  readonly program: string
  readonly prints: string
  readonly nodes: readonly string[]
  readonly megabytesMax?: number
  /** Pays from a browser bundle too. */
  readonly inBrowsers?: true
}

const allNodes = ['20', '22', '24']

const payment = `
const payingFetch = createPayingFetch({
  wallet,
  rpcUrl: local.rpcUrl,
  expectedMint: local.tokenMint,
  spendingLimit: { perRequest: { usd: '0.01' }, perDay: { usd: '1' } },
  store,
})
const request = { method: 'POST', body: JSON.stringify({ data: 'hello', size: 64 }) }
const response = await payingFetch(local.baseUrl + '/api/tools/qrcode', request)
const { receipt } = await response.json()
const verdict = await verifyReceipt({ receipt, keys: local.receiptKey, expected: { wallet: local.demoWallet.address } })
`

/** Entry of a browser bundle: exports a function that pays. */
export const browserEntry = `
import { createPayingFetch, keypairWallet, verifyReceipt } from '@tollbook/client'
export async function pay(local, secretKey) {
  const wallet = keypairWallet(Uint8Array.from(secretKey))
  const store = undefined
  ${payment}
  return response.status + ' ' + verdict.valid
}`

/** Compiled in strict mode with the types of a browser and none of Node. */
export const typedProgram = `
import { createPayingFetch, keypairWallet, PaymentUnresolved, standardWallet, verifyReceipt } from '@tollbook/client'
const payingFetch = createPayingFetch({
  wallet: keypairWallet({ secretKey: new Uint8Array(64) }),
  rpcUrl: 'https://node.example',
  expectedMint: 'mint',
  spendingLimit: { perRequest: { usd: '0.01' }, perHost: { usd: '1' } },
})
const response: Promise<Response> = payingFetch(new URL('https://pay.example'))
export const problem = async (error: unknown) => (error instanceof PaymentUnresolved ? error.payment.signature : undefined)
export const wallet = standardWallet({ wallet: { name: 'w', features: {} }, account: { address: 'a' } })
export const verdict = verifyReceipt({ receipt: {}, keys: {} })
export { response }`

export const subjects: readonly Subject[] = [
  {
    name: 'core',
    needs: [],
    program: `
const { sha256Hex } = await load('@tollbook/core/digest')
const { emptyRoot } = await load('@tollbook/core/merkle')
console.log(sha256Hex('') === Buffer.from(emptyRoot).toString('hex'))`,
    prints: 'true',
    nodes: allNodes,
  },
  {
    name: 'client',
    needs: ['core'],
    program: `
const { createPayingFetch, verifyReceipt } = await load('@tollbook/client')
const { openPaymentFolder, readKeypairFile } = await load('@tollbook/client/node')
const wallet = await readKeypairFile(local.demoWallet.keypairPath)
const store = openPaymentFolder('payments')
${payment}
const { execFileSync } = await load('node:child_process')
const { writeFileSync } = await load('node:fs')
writeFileSync('key.json', JSON.stringify(local.receiptKey))
const place = ['--base-url', local.baseUrl, '--rpc-url', local.rpcUrl, '--mint', local.tokenMint]
const paying = [...place, '--wallet', local.demoWallet.keypairPath, '--receipt-key', 'key.json', '--max-usd', '0.01']
const words = ['POST', '/api/tools/qrcode', '--json', '{"data":"hello","size":64}', ...paying]
const printed = execFileSync('node_modules/.bin/tollbook-pay', words, { encoding: 'utf8' })
console.log(response.status, verdict.valid, (await store.pending()).length, JSON.parse(printed).receiptCheck)`,
    prints: '200 true 0 verified',
    nodes: allNodes,
    megabytesMax: 25,
    inBrowsers: true,
  },
  {
    name: 'agent',
    needs: ['core', 'client'],
    program: `
const { execFileSync } = await load('node:child_process')
const { copyFileSync, mkdtempSync, readFileSync } = await load('node:fs')
const wallet = mkdtempSync('wallet-')
copyFileSync(local.demoWallet.keypairPath, wallet + '/wallet.json')
const run = (...words) =>
  execFileSync('node_modules/.bin/tollbook-agent', [...words, '--folder', wallet], { encoding: 'utf8', stdio: 'pipe' })
const printed = run('mcp', 'init', '--service', local.baseUrl, '--rpc-url', local.rpcUrl)
const answer = JSON.parse(run('pay', 'POST', local.baseUrl + '/api/tools/qrcode', '--json', '{"data":"hello"}'))
process.kill(JSON.parse(readFileSync(wallet + '/wallet.lock', 'utf8')).pid)
console.log(printed.includes('@tollbook/agent'), answer.data.originalData)`,
    prints: 'true hello',
    nodes: allNodes,
  },
  {
    name: 'audit',
    needs: [],
    program: `
const { execFileSync } = await load('node:child_process')
const words = ['node_modules/@tollbook/audit/dist/main.js', '--database', local.databaseUrl, '--json']
const { events, findings } = JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' }))
const { audit } = await load('@tollbook/audit')
const verdict = await audit({
  source: { kind: 'database', url: local.databaseUrl },
  verifierKeys: [],
  ownCheckpoints: [],
  transactions: true,
  chain: undefined,
  resumeFile: undefined,
  clock: { monotonicMs: () => performance.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
})
console.log(events > 0, findings.length, verdict.findings.length)`,
    prints: 'true 0 0',
    // The audit keeps its state in SQLite, which Node has without a flag since 22.13.
    nodes: ['22', '24'],
  },
  {
    name: 'localnet',
    needs: ['core'],
    program: `
const { startLocalChain } = await load('@tollbook/localnet')
const { silentLog } = await load('@tollbook/localnet/log')
const chain = await startLocalChain({ port: 0, slotMs: 100, log: silentLog })
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' })
const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
console.log((await answer.json()).result)
await chain.close()`,
    prints: 'ok',
    // As `engines` of the package says.
    nodes: ['22', '24'],
  },
  {
    name: 'ledger',
    needs: ['core'],
    program: `
const { createLedger } = await load('@tollbook/ledger/ledger')
const { readdirSync } = await load('node:fs')
console.log(typeof createLedger, readdirSync('node_modules/@tollbook/ledger/sql').length > 0)`,
    prints: 'function true',
    nodes: allNodes,
  },
]
