import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '@tollbook/core/digest'
import { networks } from '@tollbook/core/networks'
import type { Home } from './home.ts'
import { connectLocalChain, topUp } from './giveFunds.ts'
import { type LocalPart, spawnLocalCommand } from './localCommand.ts'

interface LocalSignerOptions extends LocalPart {
  readonly tabWallet: string
}

// Network name of the local chain in x402. Standard x402 clients support only Solana's three public networks, so the
// local chain uses the name of devnet.
const { devnet } = networks

/** Starts the signer as a separate process, as in production. Its fee payer has SOL on the local chain. */
export async function openLocalSigner(options: LocalSignerOptions) {
  const { home, chain, tabWallet, databaseUrl, log, onUnexpectedExit } = options
  const feePayer = await home.keypair('fee-payer')
  const [rpcUrl = ''] = chain.rpcUrls
  await topUp(connectLocalChain(rpcUrl), feePayer.keypair.publicKey)
  const socketPath = socketPathIn(home)
  const child = await spawnLocalCommand({
    command: 'signer',
    purpose: 'the signer of the network fees',
    env: {
      SIGNER_SOCKET: socketPath,
      FEE_PAYER_KEYPAIR: feePayer.path,
      SIGNER_DATABASE_URL: databaseUrl,
      TOKEN_MINT: chain.tokenMint,
      CURRENCIES: 'usdc',
      PAYMENT_WALLET: chain.paymentWallet,
      TAB_WALLET: tabWallet,
    },
    log,
    onUnexpectedExit,
  })
  return { config: { signer: { socketPath }, network: devnet }, stop: child.stop }
}

// Maximum bytes of a Unix socket path: 108, minus the final zero byte.
const socketPathMax = 107

function socketPathIn({ path }: Home): string {
  const inHome = join(path, 'signer.sock')
  if (Buffer.byteLength(inHome) <= socketPathMax) return inHome
  // The hash keeps the sockets of several homes apart, because all homes share this folder.
  return join(tmpdir(), `tollbook-${sha256Hex(path).slice(0, 16)}.sock`)
}
