import { decodeBase58 } from '@tollbook/core/base58'
import { toHex } from '@tollbook/core/bytes'
import { verifyEd25519 } from '@tollbook/core/ed25519'
import { type Refusal, refuseNumberUsed, refuseProof } from '@tollbook/core/refusal'
import { formatDecimal } from '@tollbook/core/money'
import { debitMessage, maxUsdHeader, tabTermsHash } from '@tollbook/core/tab'
import type { Settlement } from '../../payment/settlement.ts'
import { isTabRefusal, type TabRefusal } from '../../payment/tabRefusal.ts'
import type { PaymentRail } from '../../paywall/rail.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import { isSameSecret, settleDebit, type SettleDebitDeps } from './settleDebit.ts'
import { bearerHeader, carriesDebit, proofHeader, readTabProof, type TabProof, walletHeader } from './tabProof.ts'

/** Base units that the tab has after the charge; in a streamed answer, while the price is held. */
const balanceHeader = 'tab-balance'

/**
 * Creates the rail of tabs: a request is paid out of an earlier deposit by one debit, with no transaction and no call
 * to a node. The debit is in the headers of the specification, or the bearer key of the tab in `Authorization`. It
 * makes no offers: a tab is opened by a payment on any other rail.
 */
export function createTabRail(deps: SettleDebitDeps): PaymentRail<TabProof> {
  return {
    name: 'tab',
    meta: {
      // A signed debit is in the members of a wallet's own proof.
      headersOf: ({ 'tollbook/tab-key': key, 'tollbook/tab-max-usd': maxUsd }) => ({
        ...(typeof key === 'string' ? { [bearerHeader]: `Bearer ${key}` } : {}),
        ...(typeof maxUsd === 'string' ? { [maxUsdHeader]: maxUsd } : {}),
      }),
      receiptOf: ({ [balanceHeader]: rest }) => (rest === undefined ? {} : { 'tollbook/tab-balance': rest }),
    },
    secretHeaders: [proofHeader, bearerHeader],
    requestHeaders: [walletHeader, proofHeader, bearerHeader, maxUsdHeader],
    responseHeaders: [balanceHeader],
    carriesProof: carriesDebit,
    identify: (request) => (carriesDebit(request) ? { payer: undefined } : undefined),
    challenge: () => Promise.resolve(undefined),
    read: readTabProof,
    checkHolder: (proof, settlement) => checkHolder(deps.origin, proof, settlement),
    settle: (question) => settleDebit(deps, question),
    respond: ({ tabBalanceBaseUnits: rest }) => (rest === undefined ? {} : { [balanceHeader]: rest.toString() }),
    explain(refusal) {
      return Promise.resolve({
        headers: {},
        ...(isTabRefusal(refusal) ? { members: { tab: describeTab(refusal) } } : {}),
      })
    },
  }
}

function describeTab({ tab: { id, neededBaseUnits, balanceBaseUnits, affordable } }: TabRefusal) {
  const amounts = { neededBaseUnits: neededBaseUnits.toString(), balanceBaseUnits: balanceBaseUnits.toString() }
  if (affordable === undefined) return { id, ...amounts }
  const { maxMicroUsd, output } = affordable
  return { id, ...amounts, affordable: { maxUsd: formatDecimal(maxMicroUsd, usdDecimals), output } }
}

/**
 * Only the same request is served again: with the recorded signature, a newer one of the same key, or the bearer key
 * that debited. Signatures of a repeated request are verified on this thread, because the port is synchronous.
 */
function checkHolder(origin: string, proof: TabProof, { debit, price }: Settlement): Refusal | undefined {
  const { signed, secretHash, requestDigest } = proof
  const recorded = debit?.signed
  if (signed === undefined)
    return isSameSecret(debit?.bearerHash, secretHash) ? undefined : refuseProof('tab_signature_invalid')
  if (recorded === undefined || recorded.requestDigest !== toHex(requestDigest)) return refuseNumberUsed()
  const { sessionKey } = recorded
  const publicKey = decodeBase58(sessionKey, 32) ?? new Uint8Array()
  const message = debitMessage(signed, tabTermsHash({ origin, mint: price.mint, sessionKey }), requestDigest)
  const isValid = verifyEd25519({ publicKey, message, signature: signed.signature })
  return isValid ? undefined : refuseProof('tab_signature_invalid')
}
