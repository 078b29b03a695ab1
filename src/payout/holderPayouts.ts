import { readHolders } from '../chain/readHolders.ts'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import { shareOf } from '../accounting/account.ts'
import { planHolderPayout } from '../accounting/holderPlan.ts'
import { type HolderSnapshot, readSnapshot, snapshotDigest, snapshotText } from '../accounting/holderSnapshot.ts'
import { type PayoutPlan, planHead } from '../accounting/payoutPlan.ts'
import { type Address, readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { postJson } from '../outbound/postJson.ts'
import { readOpenHolderPayout } from '../store/holderPayoutStore.ts'
import { findPaidWallets } from '../store/payoutStore.ts'
import { readFreeDebts } from './freeDebts.ts'
import { endHolderPayout, type HolderPaymentDeps, type HolderPaymentOrder, payHolders } from './payHolders.ts'
import type { PayoutWallets } from './payoutWallets.ts'

export interface HolderRequest {
  readonly share: string
  readonly snapshotText: string
  /**
   * Excluded in addition to the payment wallets on record, the addresses that destroy tokens, and wallets that closed
   * their token account after an earlier payout.
   */
  readonly excluded: readonly Address[]
  readonly minimumBaseUnits: bigint
  readonly openAccountsMax: number
}

interface HolderPayoutsDeps extends HolderPaymentDeps {
  readonly rpcUrl: string
  readonly serviceToken: string
  readonly seam: ((deps: HolderPaymentDeps) => HolderPaymentDeps) | undefined
  readonly wallets: PayoutWallets
  /** Throws while the chain has a payout that the ledger lacks. */
  readonly requireRecorded: () => Promise<void>
}

// A million token accounts are about 400 MB of JSON, and a string has at most 512 MB.
const answerBytesMax = 500_000_000

/**
 * Opens the payouts to holders. A payout to all holders takes many transactions, so an interrupted payout can be
 * resumed.
 */
export function openHolderPayouts(deps: HolderPayoutsDeps) {
  const { chain, rpcUrl: url } = deps
  return {
    /** Reads all token accounts in one finalized state, and returns them as the text of a snapshot file. */
    snapshot: async () => {
      requireToken(deps)
      const postLong = (to: string, body: string, limits: { readonly timeoutMs: number }) =>
        postJson(to, body, { ...limits, answerBytesMax })
      const held = await readHolders({ url, postJson: postLong }, chain.terms)
      const text = snapshotText(held)
      return { text, sha256: snapshotDigest(text), slot: held.slot, accounts: held.accounts.length }
    },
    /** Plans a payout. Records nothing. Undefined if nothing is owed or no holder is left. */
    plan: (request: HolderRequest) => plan(deps, request),
    /** Pays a plan. Continues from the state that an earlier run has reached. */
    pay: (order: HolderPaymentOrder) => payHolders(deps.seam?.(deps) ?? deps, order),
    end: (created: PayoutPlan) => endHolderPayout(deps, created),
  }
}

async function plan(deps: HolderPayoutsDeps, request: HolderRequest): Promise<PayoutPlan | undefined> {
  requireToken(deps)
  const { chain, database, wallets } = deps
  const { minimumBaseUnits, openAccountsMax } = request
  const account = shareOf(request.share)
  const { network, mint, tokenProgram } = chain.terms
  const snapshot = readSnapshot(request.snapshotText)
  if (snapshot === undefined)
    throw refused('the snapshot is not a file of `payout holders snapshot`, or it was changed')
  if (snapshot.mint !== mint || snapshot.network !== network || snapshot.tokenProgram !== tokenProgram)
    throw refused(`the snapshot is of the mint ${snapshot.mint} on ${snapshot.network}`)
  await wallets.require({ fromOldWallet: false })
  const slot = await chain.finality.finalizedSlot()
  if (snapshot.slot > slot) throw refused(`the snapshot is of slot ${snapshot.slot}, and the chain is at ${slot}`)
  await deps.requireRecorded()
  const open = await readOpenHolderPayout(database, mint)
  if (open !== undefined) throw refused(`the plan ${open.planId} is open: pay it first, or end it`)
  const { position, debts, heldBaseUnits } = await readFreeDebts(database, mint)
  const amountBaseUnits = debts.find((debt) => debt.account === account)?.baseUnits ?? 0n
  if (amountBaseUnits === 0n) return undefined
  const created = planHolderPayout({
    ...planHead({ ...chain.terms, position, slot }),
    account,
    amountBaseUnits,
    snapshot,
    snapshotSha256: snapshotDigest(request.snapshotText),
    excluded: [
      ...request.excluded,
      ...(await wallets.all()),
      ...destroyers(),
      ...(await closedAccounts(deps, snapshot)),
    ],
    minimumBaseUnits,
    openAccountsMax,
    tokenAccountOf: (wallet) => tokenAccountOf(chain.terms, wallet),
  })
  if (created !== undefined) await wallets.requireCover(created, heldBaseUnits)
  return created
}

/** Refuses a dollar token, because its snapshot would list everyone who holds the dollar token. */
function requireToken({ chain, serviceToken }: HolderPayoutsDeps): void {
  const { mint } = chain.terms
  if (mint !== serviceToken)
    throw refused(
      `${mint} is not the service token, and only the token is divided among its holders: pay the share to a wallet with \`payout plan\``,
    )
}

/**
 * Finds the wallets that closed their account after an earlier payout. They are excluded, because a wallet that closes
 * an account keeps its rent, and rent is paid only once per wallet.
 */
async function closedAccounts({ chain, database }: HolderPayoutsDeps, { mint, accounts }: HolderSnapshot) {
  const known = new Set(accounts.map(({ address }) => address))
  const owners = [...new Set(accounts.map(({ owner }) => owner))]
  const missing = owners.filter((owner) => !known.has(tokenAccountOf(chain.terms, owner)))
  const paid = await findPaidWallets(database, mint, missing)
  return missing.filter((owner) => paid.has(owner))
}

/** Returns the incinerator and the address of 32 zero bytes, whose tokens are lost. */
function destroyers(): readonly Address[] {
  return ['1nc1nerator11111111111111111111111111111111', '1'.repeat(32)].map((text) =>
    assertPresent(readAddress(text), 'the address is one'),
  )
}

function refused(message: string): Fault {
  return new Fault(message, { retryable: false })
}
