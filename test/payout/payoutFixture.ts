import { type Keypair, PublicKey } from '@solana/web3.js'
import type { PayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import { openPayout, type Payout } from '../../src/payout/openPayout.ts'
import { assertPresent } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import {
  accountOf,
  addressOf,
  giveSol,
  type MintKind,
  newCustomer,
  sendAndConfirm,
  stage,
} from '../chain/chainFixture.ts'
import {
  finalityRound,
  type LifecycleFixture,
  openLifecycleFixture,
  pay,
  refundRound,
  sendTokens,
  serve,
} from '../jobs/lifecycleFixture.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'

/** A ledger with debts of every kind, and a login that may pay them. */
export interface PayoutFixture extends LifecycleFixture {
  readonly payoutUrl: string
  readonly payout: Payout
  readonly destinations: ReadonlyMap<'provider' | 'holders' | 'treasury', Address>
}

const settleAgeMs = 3_600_000

export async function openPayoutFixture(kind: MintKind): Promise<PayoutFixture> {
  const environment = await openLifecycleFixture(kind, [{ newestState: true }, { newestState: true }])
  const { fixture, clock, database } = environment
  // Waiting for finality lets slots pass.
  clock.onSleep(() => fixture.chain.advanceSlots(10))
  await stage(fixture, [giveSol(fixture, fixture.paymentWallet.publicKey)])
  const payoutUrl = await makeMemberLogin(database.adminUrl, 'tollbook_payout')
  const rpcUrls = fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl)
  const payout = await openPayoutWith({ ...environment, payoutUrl }, rpcUrls)
  const destinations = new Map<'provider' | 'holders' | 'treasury', Address>()
  for (const share of ['provider', 'holders', 'treasury'] as const)
    destinations.set(share, await newAddress(environment))
  return { ...environment, payoutUrl, payout, destinations }
}

/** The payouts of an operator who has configured these nodes. */
export async function openPayoutWith(
  { fixture, clock, payoutUrl }: Pick<PayoutFixture, 'fixture' | 'clock' | 'payoutUrl'>,
  rpcUrls: readonly string[],
): Promise<Payout> {
  const { mint: tokenMint, paymentWallet } = fixture.terms
  const payout = await openPayout({ databaseUrl: payoutUrl, rpcUrls, tokenMint, paymentWallet, clock, log: silentLog })
  afterFile(() => payout.close())
  return payout
}

async function newAddress({ fixture }: LifecycleFixture): Promise<Address> {
  return addressOf((await newCustomer(fixture, 0n)).address)
}

/** Two deliveries, one of them overpaid; a refund; and tokens out of the blue. All final. */
export async function makeDebts(environment: PayoutFixture): Promise<void> {
  const { fixture, clock, deps } = environment
  for (const [more, ending] of [
    [0n, 'fulfilled'],
    [500n, 'fulfilled'],
    [0n, 'released'],
  ] as const) {
    const { settlement } = await pay(environment, more)
    await serve(environment, settlement, ending)
  }
  await sendTokens(environment, await newCustomer(fixture), 7_000n)
  fixture.chain.advanceSlots(32)
  await finalityRound(environment)
  await refundRound(environment, 0)
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: fixture.terms, settleAgeMs })
}

export async function planAll({ payout, destinations }: PayoutFixture): Promise<PayoutPlan> {
  return assertPresent((await payout.plan({ destinations, leastBaseUnits: 0n })).plan, 'something is owed')
}

/** Signs a part with the payment wallet and puts it on chain, not final yet. */
export async function sendPart(environment: PayoutFixture, plan: PayoutPlan, part: number): Promise<Signature> {
  const { fixture, payout } = environment
  const { payout: built } = await payout.prepare(plan, part, fixture.terms.paymentWallet)
  const { transaction } = assertPresent(built, 'the part can be paid')
  return sendAndConfirm(fixture, signedBy(environment, transaction, [fixture.paymentWallet]))
}

function signedBy({ payout }: PayoutFixture, transaction: Uint8Array, keypairs: readonly Keypair[]): Uint8Array {
  return payout.sign(transaction, keypairs).transaction
}

/** Balance of a wallet in the mint. */
export async function tokensOf({ fixture }: LifecycleFixture, wallet: Address): Promise<bigint> {
  const account = accountOf(fixture, new PublicKey(wallet))
  const { value } = await fixture.connection.getTokenAccountBalance(account, 'processed')
  return BigInt(value.amount)
}
