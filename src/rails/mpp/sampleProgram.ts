export function sampleProgram(fetchArguments: string): string {
  return `import { readFile } from 'node:fs/promises'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { charge, Mppx } from '@solana/mpp/client'

const key = Uint8Array.from(JSON.parse(await readFile('payer.json', 'utf8')))
const signer = await createKeyPairSignerFromBytes(key)
const client = Mppx.create({ methods: [charge({ signer, rpcUrl: process.env.RPC_URL })], polyfill: false })
const answer = await client.fetch(${fetchArguments})
console.log(await answer.text())`
}
