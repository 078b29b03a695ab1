import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Connection, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js'
import { sha256Hex } from '@tollbook/core/digest'
import { Fault } from '@tollbook/core/fault'
import type { ServiceConfig } from '../../config.ts'
import type { Log } from '../../primitives/log.ts'
import type { Home } from './home.ts'
import type { ProvisionedChain } from './provisionFromHome.ts'

export interface LocalSignerOptions {
  readonly home: Home
  readonly chain: ProvisionedChain['chain']
  readonly log: Log
  readonly onUnexpectedExit: (error: Error) => void
}

export interface LocalSigner {
  readonly settings: NonNullable<ServiceConfig['x402']>
  stop(): Promise<void>
}

// Stock clients of x402 know Solana's three public networks only, so the local chain goes by the name of devnet.
const devnet = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const entryFile = fileURLToPath(new URL('../tollbook.js', import.meta.url))

/** `tollbook signer` as a separate process, as in production, with a fee payer that the local chain has funded. */
export async function openLocalSigner({
  home,
  chain,
  log,
  onUnexpectedExit,
}: LocalSignerOptions): Promise<LocalSigner> {
  const feePayer = await home.keypair('fee-payer')
  const [rpcUrl = ''] = chain.rpcUrls
  await fund(rpcUrl, feePayer.keypair.publicKey)
  const signerSocket = socketPathIn(home)
  const child = spawn(process.execPath, [entryFile, 'signer', '--until-stdin-ends'], {
    // A separate process group: Ctrl-C in the terminal reaches only us, and we stop it after our own requests.
    detached: true,
    env: {
      SIGNER_SOCKET: signerSocket,
      FEE_PAYER_KEYPAIR: feePayer.path,
      SIGNER_JOURNAL: join(home.path, 'signer.journal'),
      TOKEN_MINT: chain.tokenMint,
      PAYMENT_WALLET: chain.paymentWallet,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => undefined)
  const gone = once(child, 'exit')
  const ready = once(createInterface({ input: child.stdout }), 'line').then(() => true)
  const isReady = await Promise.race([ready, gone.then(() => false)])
  if (!isReady) throw new Fault('the signer of the network fees did not start', { retryable: false })
  let isStopping = false
  void gone.then(() => {
    if (isStopping) return
    log.error({ event: 'local_signer_exited' })
    onUnexpectedExit(new Fault('the signer of the network fees ended', { retryable: false }))
  })
  return {
    settings: { signerSocket, network: devnet },
    async stop() {
      isStopping = true
      child.stdin.end()
      await gone
    },
  }
}

// The longest path of a Unix socket: 108 bytes with the zero at its end.
const socketPathMax = 107

function socketPathIn({ path }: Home): string {
  const inHome = join(path, 'signer.sock')
  if (Buffer.byteLength(inHome) <= socketPathMax) return inHome
  return join(tmpdir(), `tollbook-${sha256Hex(path).slice(0, 16)}.sock`)
}

const enoughSol = 1

async function fund(rpcUrl: string, feePayer: PublicKey): Promise<void> {
  const connection = new Connection(rpcUrl, 'confirmed')
  const lamports = await connection.getBalance(feePayer)
  if (lamports < enoughSol * LAMPORTS_PER_SOL) await connection.requestAirdrop(feePayer, enoughSol * LAMPORTS_PER_SOL)
}
