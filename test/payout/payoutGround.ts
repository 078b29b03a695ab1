import { type Keypair, PublicKey } from '@solana/web3.js'
import type { PayoutPlan } from '../../src/accounting/payoutPlan.ts'
import { scanTransfers } from '../../src/jobs/transferScanJob.ts'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import { openPayout, type Payout } from '../../src/payout/openPayout.ts'
import { assertPresent } from '@tollbook/core/assert'
import { newId, randomToken } from '@tollbook/core/id'
import { silentLog } from '../../src/primitives/log.ts'
import {
  accountOf,
  addressOf,
  giveSol,
  type MintKind,
  newCustomer,
  sendAndConfirm,
  stage,
} from '../chain/paymentLab.ts'
import {
  finalityRound,
  type LifeGround,
  openLifeGround,
  pay,
  refundRound,
  sendTokens,
  serve,
} from '../jobs/lifeGround.ts'
import { afterFile } from '../support/afterFile.ts'
import { withAdminSession } from '../support/adminSession.ts'

/** A ledger with debts of every kind, and a login that may pay them. */
export interface PayoutGround extends LifeGround {
  readonly payoutUrl: string
  readonly payout: Payout
  readonly destinations: ReadonlyMap<'provider' | 'holders' | 'treasury', Address>
}

const settleAgeMs = 3_600_000

export async function openPayoutGround(kind: MintKind): Promise<PayoutGround> {
  const ground = await openLifeGround(kind)
  const { lab, clock, database } = ground
  // Whoever waits for finality lets slots pass.
  clock.onSleep(() => lab.chain.advanceSlots(10))
  await stage(lab, [giveSol(lab, lab.paymentWallet.publicKey)])
  const payoutUrl = await makePayoutLogin(database.adminUrl)
  const payout = await openPayout({
    databaseUrl: payoutUrl,
    rpcUrls: [lab.chain.rpcUrl],
    tokenMint: lab.terms.mint,
    paymentWallet: lab.terms.paymentWallet,
    clock,
    log: silentLog,
  })
  afterFile(() => payout.close())
  const destinations = new Map<'provider' | 'holders' | 'treasury', Address>()
  for (const share of ['provider', 'holders', 'treasury'] as const) destinations.set(share, await newAddress(ground))
  return { ...ground, payoutUrl, payout, destinations }
}

async function newAddress({ lab }: LifeGround): Promise<Address> {
  return addressOf((await newCustomer(lab, 0n)).address)
}

async function makePayoutLogin(adminUrl: string): Promise<string> {
  const [role, password] = [`paymaster_${newId('instance')}`.toLowerCase(), randomToken()]
  await withAdminSession(adminUrl, async (admin) => {
    await admin.query(`create role ${admin.escapeIdentifier(role)} login password ${admin.escapeLiteral(password)}`)
    await admin.query(`grant tollbook_payout to ${admin.escapeIdentifier(role)}`)
  })
  afterFile(() =>
    withAdminSession(adminUrl, (admin) => admin.query(`drop role ${admin.escapeIdentifier(role)}`)).then(
      () => undefined,
    ),
  )
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.href
}

/** Two deliveries, one of them overpaid; a refund; and tokens out of the blue. All final. */
export async function makeDebts(ground: PayoutGround): Promise<void> {
  const { lab, clock, deps } = ground
  for (const [more, ending] of [
    [0n, 'fulfilled'],
    [500n, 'fulfilled'],
    [0n, 'released'],
  ] as const) {
    const { settlement } = await pay(ground, more)
    await serve(ground, settlement, ending)
  }
  await sendTokens(ground, await newCustomer(lab), 7_000n)
  lab.chain.advanceSlots(32)
  await finalityRound(ground)
  await refundRound(ground, 0)
  clock.advance(settleAgeMs + 1_000)
  await scanTransfers({ ...deps, terms: lab.terms, settleAgeMs })
}

export async function planAll({ payout, destinations }: PayoutGround): Promise<PayoutPlan> {
  return assertPresent(await payout.plan({ destinations, leastBaseUnits: 0n }), 'something is owed')
}

/** Signs a part with the payment wallet and puts it on chain, not final yet. */
export async function sendPart(ground: PayoutGround, plan: PayoutPlan, part: number): Promise<Signature> {
  const { lab, payout } = ground
  const { transaction } = await payout.build(plan, part, lab.terms.paymentWallet)
  return sendAndConfirm(lab, signedBy(ground, transaction, [lab.paymentWallet]))
}

function signedBy({ payout }: PayoutGround, transaction: Uint8Array, keypairs: readonly Keypair[]): Uint8Array {
  return payout.sign(transaction, keypairs).transaction
}

/** What a wallet holds of the mint. */
export async function tokensOf({ lab }: LifeGround, wallet: Address): Promise<bigint> {
  const account = accountOf(lab, new PublicKey(wallet))
  const { value } = await lab.connection.getTokenAccountBalance(account, 'processed')
  return BigInt(value.amount)
}
