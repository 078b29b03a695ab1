import { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { readCheckpoint, readVerifierKey } from '@tollbook/core/checkpoint'
import { openCosignature, readWitnessKey } from '@tollbook/core/cosignature'
import { startTestWitness, type TestWitness } from '../../support/testWitness.ts'
import { assertRan, type Stack } from './stack.ts'

export const publishers = ['anchor', 'witness'] as const
const profiles = publishers.flatMap((name) => ['--profile', name])
const localChain = 'http://chain:8899'

export interface PublisherUrls {
  readonly api: string
  readonly rpc: string
}

/**
 * The section "Publish checkpoints" of docs/deploy.md: a funded key for memos, and a witness outside the stack. The witness
 * is this process, which containers reach at the gateway of their network.
 */
export async function startPublishers(stack: Stack, { api }: PublisherUrls): Promise<TestWitness> {
  await stack.writeSecret('receipt-jwks', await readText(`${api}/.well-known/jwks.json`))
  const key = Keypair.generate()
  assertRan(await stack.compose('run', '--rm', '--no-deps', 'wallet', 'faucet', key.publicKey.toBase58(), '1'))
  await stack.writeSecret('anchor-keypair', JSON.stringify([...key.secretKey]))
  await stack.writeSecret('anchor-rpc-url', localChain)
  const log = assertPresent(readVerifierKey((await readText(`${api}/api/ledger/key`)).trim()), 'the service has a key')
  const witness = await startTestWitness(log, await stack.gateway('outside'))
  await stack.addSettings({ WITNESS_URL: witness.url, WITNESS_KEY: witness.key })
  assertRan(await stack.compose(...profiles, 'up', '--detach', '--no-deps', ...publishers))
  return witness
}

/** Starts both again, so that they publish at once. */
export async function publishAgain(stack: Stack): Promise<void> {
  assertRan(await stack.compose(...profiles, 'up', '--detach', '--no-deps', '--force-recreate', ...publishers))
}

export interface Published {
  readonly anchoredSize: number
  readonly cosignedSize: number
}

/** Reads what the containers published, and verifies it: the memo on chain, and the cosignature by the key of the witness. */
export async function readPublished(stack: Stack, witness: TestWitness, { rpc }: PublisherUrls): Promise<Published> {
  const folder = '/var/lib/tollbook/published'
  const read = async (service: string, file: string) =>
    assertRan(await stack.compose('exec', '-T', service, 'cat', `${folder}/${file}`))
  const anchor = anchorShape.parse(JSON.parse(await read('anchor', 'anchor.json')))
  if (!(await readTransaction(rpc, anchor.signature)).includes(anchor.memo))
    throw new Error(`the transaction ${anchor.signature} has no memo "${anchor.memo}"`)
  const note = await read('witness', 'cosigned')
  const key = assertPresent(readWitnessKey(witness.key), 'the witness has a key')
  const size = readCheckpoint(note)?.size
  if (openCosignature(note, key) === undefined || size === undefined || size !== witness.seen()?.size)
    throw new Error(`the container published no cosignature of what the witness has seen: ${note}`)
  return { anchoredSize: anchor.size, cosignedSize: size }
}

const anchorShape = z.object({ size: z.int(), signature: z.string(), memo: z.string() })

async function readTransaction(rpc: string, signature: string): Promise<string> {
  const params = [signature, { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getTransaction', params })
  return readText(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function readText(url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url} is answered with ${response.status}`)
  return response.text()
}
