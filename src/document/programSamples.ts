import type { Endpoint } from '../product/endpoint.ts'
import { requestOf } from '../product/productFacts.ts'
import { displayUsd } from '../pricing/priceList.ts'
import type { RailDescription } from '../paywall/rail.ts'
import { quotable, type SampleService } from './samples.ts'
import { type DescribedRail, descriptionsOf } from './discovery.ts'

export interface CodeSample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

export interface SampleFacts extends SampleService {
  readonly rails: readonly DescribedRail[]
}

/**
 * Creates programs that buy the example of a product. The programs use the key in `payer.json` and the node in
 * `RPC_URL`.
 */
export function programSamples(endpoint: Endpoint, facts: SampleFacts): readonly CodeSample[] {
  return [
    { lang: 'TypeScript', label: 'TypeScript', source: clientSample(endpoint, facts) },
    ...descriptionsOf(facts.rails).flatMap((protocol) => protocolSample(endpoint, facts, protocol)),
    ...(endpoint.rawBody === undefined
      ? [{ lang: 'Python', label: 'Python', source: pythonSample(endpoint, facts) }]
      : []),
  ]
}

function protocolSample(
  endpoint: Endpoint,
  { baseUrl }: SampleFacts,
  described: RailDescription,
): readonly CodeSample[] {
  const { protocol, mount = '', sample } = described
  if (sample === undefined) return []
  const source = sample(fetchArguments(endpoint, `${baseUrl}${mount}`))
  return [{ lang: 'TypeScript', label: `TypeScript, ${protocol}`, source }]
}

function fetchArguments(endpoint: Endpoint, prefix: string): string {
  const { method, rawBody, example } = endpoint
  const { target, body } = requestOf(endpoint, example.order)
  if (rawBody !== undefined)
    return `'${prefix}${target}', {
  method: '${method}',
  headers: { 'content-type': '${rawBody.contentTypes[0] ?? ''}' },
  body: await readFile('input'),
}`
  if (body === undefined)
    return method === 'GET' ? `'${prefix}${target}'` : `'${prefix}${target}', { method: '${method}' }`
  return `'${prefix}${target}', {
  method: '${method}',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(body)}),
}`
}

function clientSample(endpoint: Endpoint, { baseUrl, mint }: SampleFacts): string {
  const file = endpoint.rawBody === undefined ? '' : "import { readFile } from 'node:fs/promises'\n"
  return `${file}import { createPayingFetch } from '@tollbook/client'
import { readKeypairFile } from '@tollbook/client/node'

const payingFetch = createPayingFetch({
  wallet: await readKeypairFile('payer.json'),
  rpcUrl: process.env.RPC_URL,
  expectedMint: '${mint}',
  spendingLimit: { perRequest: { usd: '${String(displayUsd(endpoint))}' } },
})
const answer = await payingFetch(${fetchArguments(endpoint, baseUrl)})
console.log(await answer.text())`
}

/**
 * Returns a program in Python. It builds the instructions of the token from bytes (15: BurnChecked, 12:
 * TransferChecked), so that it needs only `solders` and `requests`.
 */
function pythonSample(endpoint: Endpoint, { baseUrl, mint }: SampleFacts): string {
  const { method, example, priceMicroUsd, stream } = endpoint
  const { target, body } = requestOf(endpoint, example.order)
  const show = stream === undefined ? 'answer.json()["data"]' : 'answer.text'
  return `import base64, json, os, requests
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

wallet = Keypair.from_json(open("payer.json").read())
owner = wallet.pubkey()

def ask(**headers):
${body === undefined ? '' : `    order = json.loads(r'${quotable(body)}')\n`}    return requests.request("${method}", "${baseUrl}${target}",${body === undefined ? '' : ' json=order,'} headers={"x-wallet-address": str(owner), **headers})

offer = ask().json()
assert offer["code"] == "PAYMENT_REQUIRED", offer
assert offer["tokenMint"] == "${mint}"
assert offer["pricing"]["priceUSD"] <= ${String(displayUsd({ priceMicroUsd }))}

quote, key = offer["quote"], Pubkey.from_string
mint, program, to = (key(offer[name]) for name in ("tokenMint", "tokenProgram", "paymentTokenAccount"))
accounts = key("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
source, _ = Pubkey.find_program_address([bytes(owner), bytes(program), bytes(mint)], accounts)
amount = lambda kind, units: bytes([kind]) + int(units).to_bytes(8, "little") + bytes([quote["decimals"]])
writable, fixed, signer = (lambda it: AccountMeta(it, False, True)), (lambda it: AccountMeta(it, False, False)), AccountMeta(owner, True, False)
instructions = [
    Instruction(program, amount(15, quote["burnBaseUnits"]), [writable(source), writable(mint), signer]),
    Instruction(key("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"), quote["memo"].encode(), []),
    Instruction(program, amount(12, quote.get("transferWithFeeBaseUnits", quote["transferBaseUnits"])),
                [writable(source), fixed(mint), writable(to), signer]),
]
call = {"jsonrpc": "2.0", "id": 1, "method": "getLatestBlockhash", "params": [{"commitment": "confirmed"}]}
blockhash = requests.post(os.environ["RPC_URL"], json=call).json()["result"]["value"]["blockhash"]
message = MessageV0.try_compile(owner, instructions, [], Hash.from_string(blockhash))
transaction = base64.b64encode(bytes(VersionedTransaction(message, [wallet]))).decode()

# Store the proof. If no answer arrives, send the same proof again; never pay twice.
proof = base64.b64encode(json.dumps({"transaction": transaction, "secret": quote["secret"]}).encode()).decode()
answer = ask(**{"x-payment-proof": proof})
print(answer.status_code, ${show})`
}
