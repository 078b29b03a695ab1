import { randomBytes } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { readCheckpoint, readVerifierKey } from '@tollbook/core/checkpoint'
import { systemClock } from '@tollbook/core/clock'
import { openCosignature, readWitnessKey } from '@tollbook/core/cosignature'
import { startTestWitness, type TestWitness } from '../../support/testWitness.ts'
import { say } from '../verdict.ts'
import { assertRan, type Stack } from './stack.ts'

export const publishers = ['anchor', 'witness'] as const
const profiles = publishers.flatMap((name) => ['--profile', name])
const localChain = 'http://chain:8899'
/** The witness outlives the network that its callers come from. */
const allAddresses = '0.0.0.0'
const readsMax = 60

/**
 * The section "Publish checkpoints" of docs/deploy.md: a funded key for memos, and a witness outside the stack. The
 * witness is this process, which containers reach at the gateway of their network.
 */
export async function startPublishers(stack: Stack, api: string): Promise<TestWitness> {
  await stack.writeSecret('receipt-jwks', await readText(`${api}/.well-known/jwks.json`))
  const key = Keypair.generate()
  assertRan(await stack.compose('run', '--rm', '--no-deps', 'wallet', 'faucet', key.publicKey.toBase58(), '1'))
  await stack.writeSecret('anchor-keypair', JSON.stringify([...key.secretKey]))
  // With a key, as the address of a paid node has: the command of `provision` shows the plain address. The local chain
  // ignores the key.
  await stack.writeSecret('anchor-rpc-url', `${localChain}/?key=${randomBytes(16).toString('hex')}`)
  const log = assertPresent(readVerifierKey((await readText(`${api}/api/ledger/key`)).trim()), 'the service has a key')
  const witness = await startTestWitness(log, allAddresses)
  await publishAgain(stack, witness)
  return witness
}

/**
 * Starts both again, so that they publish at once. `down` removed the network and its gateway: the witness may have a
 * new address.
 */
export async function publishAgain(stack: Stack, witness: TestWitness): Promise<void> {
  const url = new URL(witness.url)
  url.hostname = await stack.gateway('outside')
  say(`containers reach the witness at ${url.host}`)
  await stack.addSettings({ WITNESS_URL: url.href, WITNESS_KEY: witness.key })
  assertRan(await stack.compose(...profiles, 'up', '--detach', '--no-deps', '--force-recreate', ...publishers))
}

export interface Published {
  readonly anchoredSize: number
  readonly cosignedSize: number
}

export async function readLedgerSize(api: string): Promise<number> {
  const note = await readText(`${api}/api/ledger/checkpoint`)
  return assertPresent(readCheckpoint(note), 'the service has a checkpoint').size
}

export interface Awaited {
  readonly rpc: string
  /** Events that both must have published more than. The health of a container counts a file of its earlier start. */
  readonly moreThan: number
}

/**
 * Waits until the containers have published more, and verifies it: the memo on chain, and the cosignature by the key of
 * the witness.
 */
export async function awaitPublished(stack: Stack, witness: TestWitness, awaited: Awaited): Promise<Published> {
  for (let reads = 1; ; reads++) {
    const files = await readFiles(stack)
    const [anchoredSize, cosignedSize] = [files.anchor?.size ?? 0, readCheckpoint(files.note)?.size ?? 0]
    if (Math.min(anchoredSize, cosignedSize) > awaited.moreThan) {
      await verify(files, witness, awaited.rpc)
      return { anchoredSize, cosignedSize }
    }
    if (reads === readsMax)
      throw new Error(await whyUnpublished(stack, awaited.moreThan, { anchoredSize, cosignedSize }))
    await systemClock.sleep(500)
  }
}

interface PublishedFiles {
  readonly anchor: z.infer<typeof anchorShape> | undefined
  /** Empty until the witness has cosigned. */
  readonly note: string
}

async function readFiles(stack: Stack): Promise<PublishedFiles> {
  const read = async (service: string, file: string) => {
    const { exitCode, output } = await stack.compose(
      'exec',
      '-T',
      service,
      'cat',
      `/var/lib/tollbook/published/${file}`,
    )
    return exitCode === 0 ? output : ''
  }
  const anchor = await read('anchor', 'anchor.json')
  return {
    anchor: anchor === '' ? undefined : anchorShape.parse(JSON.parse(anchor)),
    note: await read('witness', 'cosigned'),
  }
}

async function verify({ anchor, note }: PublishedFiles, witness: TestWitness, rpc: string): Promise<void> {
  const { signature, memo } = assertPresent(anchor, 'the anchor has a file')
  if (!(await readTransaction(rpc, signature)).includes(memo))
    throw new Error(`the transaction ${signature} has no memo "${memo}"`)
  const key = assertPresent(readWitnessKey(witness.key), 'the witness has a key')
  if (openCosignature(note, key) === undefined || readCheckpoint(note)?.size !== witness.seen()?.size)
    throw new Error(`the container published no cosignature of what the witness has seen: ${note}`)
}

async function whyUnpublished(stack: Stack, moreThan: number, sizes: Published): Promise<string> {
  const { output } = await stack.compose(...profiles, 'logs', '--no-color', '--tail', '5', ...publishers)
  return `not published more than ${moreThan} events: ${JSON.stringify(sizes)} ${output}`
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
