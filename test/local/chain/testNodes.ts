import { Keypair, type PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import type { LocalNode, NodeBehaviour } from '@tollbook/localnet/localChain'
import { type TestChain, call, connectTo, fund, openChain } from './testChain.ts'

/** A chain with one node for each behaviour, and a wallet whose ten SOL are final. */
export async function openNodes(...nodes: readonly NodeBehaviour[]) {
  const opened = await openChain({ nodes })
  const wallet = Keypair.generate()
  await fund(opened, wallet.publicKey)
  opened.chain.advanceSlots(40)
  const node = (index: number): LocalNode => assertPresent(opened.chain.nodes[index], 'there is such a node')
  const connections = opened.chain.nodes.map(connectTo)
  const at = (index: number) => assertPresent(connections[index], 'there is such a node')
  return { ...opened, wallet, node, at }
}

interface Signed {
  readonly blockhash: string
  readonly wire: string
}

/** A transfer of 1,000,000 lamports, to the wallet itself or to another one, with the newest blockhash. */
export async function signed({ connection }: TestChain, wallet: Keypair, to?: PublicKey): Promise<Signed> {
  const latest = await connection.getLatestBlockhash('processed')
  const transaction = new Transaction({ feePayer: wallet.publicKey, ...latest }).add(
    SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: to ?? wallet.publicKey, lamports: 1_000_000 }),
  )
  transaction.sign(wallet)
  return { blockhash: latest.blockhash, wire: transaction.serialize().toString('base64') }
}

/** Returns the signature. */
export async function send(node: LocalNode, { wire }: Signed): Promise<string> {
  const { result } = await call(node, 'sendTransaction', wire, { encoding: 'base64', skipPreflight: true })
  return String(result)
}

/** The result, or the error of JSON-RPC. */
export async function simulate(node: LocalNode, { wire }: Signed, config: object): Promise<unknown> {
  const { result, error } = await call(node, 'simulateTransaction', wire, { encoding: 'base64', ...config })
  return error ?? result
}

export const found = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
