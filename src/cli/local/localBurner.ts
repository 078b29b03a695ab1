import { createApproveInstruction, getAccount, getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Connection, type Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import type { Log } from '../../primitives/log.ts'
import { fundWallet } from './fundWallet.ts'
import type { Home } from './home.ts'
import { type RunningCommand, spawnLocalCommand } from './localCommand.ts'
import type { ProvisionedChain } from './provisionFromHome.ts'

export interface LocalBurnerOptions {
  readonly home: Home
  readonly chain: ProvisionedChain['chain']
  /** A login of `tollbook_burner`. */
  readonly databaseUrl: string
  readonly log: Log
  readonly onUnexpectedExit: (error: Error) => void
}

// So that a payment of the demo is burned within half a minute. Production burns each hour.
const everySeconds = 5

/** `tollbook burn` as a separate process, as in production, with a delegate that the payment wallet has approved. */
export async function openLocalBurner(options: LocalBurnerOptions): Promise<RunningCommand> {
  const { home, chain, databaseUrl, log, onUnexpectedExit } = options
  const [rpcUrl = ''] = chain.rpcUrls
  const [delegate, paymentWallet] = await Promise.all([home.keypair('burn-delegate'), home.keypair('payment-wallet')])
  const mint = new PublicKey(chain.tokenMint)
  await Promise.all([delegate, paymentWallet].map(({ keypair }) => fundWallet(rpcUrl, keypair.publicKey)))
  await approve(rpcUrl, { delegate: delegate.keypair.publicKey, owner: paymentWallet.keypair, mint })
  return spawnLocalCommand({
    command: 'burn',
    purpose: 'the burn job',
    env: {
      BURN_DATABASE_URL: databaseUrl,
      BURN_KEYPAIR: delegate.path,
      BURN_EVERY_SECONDS: String(everySeconds),
      SOLANA_RPC_URLS: chain.rpcUrls.join(','),
      TOKEN_MINT: chain.tokenMint,
      PAYMENT_WALLET: chain.paymentWallet,
    },
    log,
    onUnexpectedExit,
  })
}

// Of demonstration tokens. In production the owner approves as much as a stolen key may take.
const unlimited = 2n ** 64n - 1n

interface Approval {
  readonly delegate: PublicKey
  readonly owner: Keypair
  readonly mint: PublicKey
}

/** Does nothing when the delegate is approved already. */
async function approve(rpcUrl: string, { delegate, owner, mint }: Approval): Promise<void> {
  const connection = new Connection(rpcUrl, 'confirmed')
  const account = getAssociatedTokenAddressSync(mint, owner.publicKey)
  const known = await getAccount(connection, account)
  if (known.delegate?.equals(delegate) === true) return
  const transaction = new Transaction().add(createApproveInstruction(account, delegate, owner.publicKey, unlimited))
  await sendAndConfirmTransaction(connection, transaction, [owner])
}
