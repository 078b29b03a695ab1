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

/** Balance of the tab in base units: after the charge, or while the price is held if the answer is streamed. */
const balanceHeader = 'tab-balance'

/**
 * Creates the rail of tabs. One debit pays for a request from an earlier deposit, without a transaction and without a
 * call to a node. The debit is in the headers of the specification, or is the bearer key of the tab in `Authorization`.
 * This rail makes no offers: a payment on any other rail opens a tab.
 */
export function createTabRail(deps: SettleDebitDeps): PaymentRail<TabProof> {
  return {
    name: 'tab',
    meta: {
      // Read only the bearer key and the limit here. A signed debit uses the same metadata as the proof of the native
      // rail.
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
    settle: async (question) => ({ verdict: await settleDebit(deps, question), payment: question.payment }),
    respond: ({ tabBalanceBaseUnits }) =>
      tabBalanceBaseUnits === undefined ? {} : { [balanceHeader]: tabBalanceBaseUnits.toString() },
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
 * Refuses a caller who may not get the answer of a debit again. A signed debit needs the same request with a valid
 * signature of the same session key. Any other debit needs its bearer key. Signatures of repeated requests are verified
 * on the main thread, because `checkHolder` is synchronous.
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
