export interface SampleFacts {
  readonly network: string
  readonly mint: string
}

export function sampleProgram({ network, mint }: SampleFacts, fetchArguments: string): string {
  return `import { readFile } from 'node:fs/promises'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'

const key = Uint8Array.from(JSON.parse(await readFile('payer.json', 'utf8')))
const signer = await createKeyPairSignerFromBytes(key)
const network = '${network}'
const asset = '${mint}'
const client = new x402Client()
  .register(network, new ExactSvmScheme(signer, { rpcUrl: process.env.RPC_URL }))
  .setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: '1000000000' }] })
const payingFetch = wrapFetchWithPayment(fetch, client)
const answer = await payingFetch(${fetchArguments})
console.log(await answer.text())`
}
