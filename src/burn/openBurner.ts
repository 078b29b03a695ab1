import { type BurnAccounts, createBurnKey, readBurnAccounts } from '../chain/burnTransaction.ts'
import { type Chain, openChain } from '../chain/openChain.ts'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import { postJson } from '../outbound/postJson.ts'
import type { Clock } from '@tollbook/core/clock'
import type { Ed25519Signer } from '@tollbook/core/ed25519'
import { Fault } from '@tollbook/core/fault'
import type { DelegateState } from '../payment/events/burnEvents.ts'
import { periodInForce, type SettingPeriod, walletOf } from '../settings/settingPeriods.ts'
import { paymentWalletName } from '../settings/walletSettings.ts'
import type { Log } from '../machine/log.ts'
import { createBurnLedger } from '../store/burnStore.ts'
import type { Database } from '../store/database.ts'
import { openFitting } from '../store/schemaVersion.ts'
import { readPeriods } from '../store/settingStore.ts'
import { burnOnce, type BurnChain, type BurnDeps } from './burnRound.ts'

export interface BurnerOptions {
  /** The login must be a member of `tollbook_burner`, which may record only burn events. */
  readonly databaseUrl: string
  readonly rpcUrls: readonly string[]
  readonly tokenMint: string
  readonly paymentWallet: string
  /** Key of the wallet that the payment wallet has approved as its delegate. */
  readonly key: Ed25519Signer
  readonly clock: Clock
  readonly log: Log
  /** Replaces parts in tests. */
  readonly seam?: (deps: BurnDeps) => BurnDeps
}

const connectionsMax = 2

export type Burner = Awaited<ReturnType<typeof openBurner>>

/** Throws a `Fault` if the schema or the chain does not match. */
export async function openBurner(options: BurnerOptions) {
  const { databaseUrl, log, clock } = options
  await using opened = new AsyncDisposableStack()
  const login = { databaseUrl, applicationName: 'tollbook burn', connectionsMax, log }
  const database = opened.adopt(await openFitting(login, 'BURN_DATABASE_URL'), (handle) => handle.destroy())
  const chain = await openChain({ ...options, commitment: 'confirmed', postJson })
  const { terms } = chain
  const { address: delegate, signBurn } = createBurnKey(options.key, terms)
  const own = { ledger: createBurnLedger(database), chain: burnChainOf(chain, { database, clock }) }
  const deps: BurnDeps = { ...own, signBurn, terms, clock, log }
  const { seam = () => deps } = options
  const stored = opened.move()
  return {
    delegate,
    /** Ends the open round first, because no other round starts before it has ended. */
    burnOnce: (stopping?: AbortSignal) => burnOnce(seam(deps), stopping),
    close: () => stored.disposeAsync(),
  }
}

interface WalletDeps {
  readonly database: Database
  readonly clock: Clock
}

export function burnChainOf(chain: Chain, deps: WalletDeps): BurnChain {
  return {
    ...chain.reader,
    requireWallet: () => requireWallet(chain, deps),
    paymentAccounts: async () => {
      const wallets = new Set([chain.terms.paymentWallet, ...(await readWallets(deps)).map(walletOf)])
      return [...wallets].map((wallet) => tokenAccountOf(chain.terms, wallet))
    },
    refresh: () => chain.nodes.poll(),
    latestBlockhash: chain.latestBlockhash,
    readDelegate: (bytes, finalizedSlot) => readDelegate(chain, readBurnAccounts(bytes), finalizedSlot),
  }
}

/** Reads the delegate in the newest state before a burn, or in a finalized state after it. */
async function readDelegate(
  chain: Chain,
  { delegate, tokenAccount }: BurnAccounts,
  finalizedSlot: number | undefined,
): Promise<DelegateState> {
  const state =
    finalizedSlot === undefined
      ? ({ commitment: 'confirmed', minSlot: chain.nodes.newestSlot() } as const)
      : ({ commitment: 'finalized', minSlot: finalizedSlot } as const)
  const [account, wallet] = await chain.readAccounts({ addresses: [tokenAccount, delegate], ...state })
  const isApproved = account?.token?.delegate === delegate
  return {
    allowanceBaseUnits: isApproved ? account.token.allowanceBaseUnits : 0n,
    lamports: wallet?.lamports ?? 0n,
  }
}

function readWallets({ database }: WalletDeps): Promise<readonly SettingPeriod[]> {
  return readPeriods(database, [paymentWalletName()])
}

async function requireWallet({ terms }: Chain, deps: WalletDeps): Promise<void> {
  const inForce = periodInForce(await readWallets(deps), deps.clock.nowMs())
  if (inForce === undefined || walletOf(inForce) === terms.paymentWallet) return
  throw new Fault(
    `PAYMENT_WALLET ${terms.paymentWallet} is not in force: the payment wallet of the ledger is ${walletOf(inForce)} since ${inForce.validFrom}. Set PAYMENT_WALLET to it, approve the delegate from it, and start the job again`,
    { retryable: false },
  )
}
