import { createApproveInstruction, getAccount, getAssociatedTokenAddressSync } from '@solana/spl-token'
import { type Connection, type Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import type { LogLevel } from '../../machine/log.ts'
import { createBurnLedger } from '../../store/burnStore.ts'
import { openDatabase } from '../../store/database.ts'
import { connectLocalChain, topUp } from './giveFunds.ts'
import { type LocalPart, type RunningCommand, spawnLocalCommand } from './localCommand.ts'

interface LocalBurnerOptions extends LocalPart {
  readonly logLevel: LogLevel
}

// Interval of the burner. With it, a payment of the demo is burned within half a minute. In production the interval is
// an hour.
const every = '5s'

/**
 * Starts `tollbook burn` as a separate process, as in production, with a delegate that the payment wallet has approved.
 * Waits until a final payment owes a burn, because local mode often ends before one does. Undefined if local mode stops
 * before that.
 */
export async function openLocalBurner(
  options: LocalBurnerOptions,
  stopping: AbortSignal,
): Promise<RunningCommand | undefined> {
  const { home, chain, databaseUrl, log, logLevel, onUnexpectedExit } = options
  if (!(await awaitDebt(options, stopping))) return undefined
  const [rpcUrl = ''] = chain.rpcUrls
  const [delegate, paymentWallet] = await Promise.all([home.keypair('burn-delegate'), home.keypair('payment-wallet')])
  const mint = new PublicKey(chain.tokenMint)
  const connection = connectLocalChain(rpcUrl)
  // Both pay fees: the delegate for its burns, and the payment wallet for the approval.
  await Promise.all([delegate, paymentWallet].map(({ keypair }) => topUp(connection, keypair.publicKey)))
  await approve(connection, { delegate: delegate.keypair.publicKey, owner: paymentWallet.keypair, mint })
  return spawnLocalCommand({
    command: 'burn',
    options: ['--every', every],
    purpose: 'the burn job',
    env: {
      BURN_DATABASE_URL: databaseUrl,
      BURN_KEYPAIR: delegate.path,
      LOG_LEVEL: logLevel,
      SOLANA_RPC_URLS: chain.rpcUrls.join(','),
      TOKEN_MINT: chain.tokenMint,
      PAYMENT_WALLET: chain.paymentWallet,
    },
    log,
    onUnexpectedExit,
  })
}

const lookEveryMs = 2_000

async function awaitDebt({ chain, databaseUrl, log }: LocalBurnerOptions, stopping: AbortSignal): Promise<boolean> {
  const mint = assertPresent(readAddress(chain.tokenMint), 'the mint of local mode is an address')
  await using opened = new AsyncDisposableStack()
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook local mode', connectionsMax: 1, log })
  opened.defer(() => database.destroy())
  const ledger = createBurnLedger(database)
  while (!stopping.aborted) {
    const { open, burnedThroughPosition } = await ledger.readRounds(mint)
    const { parts } = await ledger.readDebts(mint, burnedThroughPosition)
    if (open !== undefined || parts.length > 0) return true
    await systemClock.sleep(lookEveryMs, stopping).catch(() => undefined)
  }
  return false
}

// Amount that the delegate may burn, without a limit because these are demonstration tokens. In production the owner
// approves an amount that could be lost if the key is stolen.
const unlimited = 2n ** 64n - 1n

interface Approval {
  readonly delegate: PublicKey
  readonly owner: Keypair
  readonly mint: PublicKey
}

/** Approves the delegate. Does nothing if it is already approved, for example by an earlier start. */
async function approve(connection: Connection, { delegate, owner, mint }: Approval): Promise<void> {
  const account = getAssociatedTokenAddressSync(mint, owner.publicKey)
  const known = await getAccount(connection, account)
  if (known.delegate?.equals(delegate) === true) return
  const transaction = new Transaction().add(createApproveInstruction(account, delegate, owner.publicKey, unlimited))
  await sendAndConfirmTransaction(connection, transaction, [owner])
}
