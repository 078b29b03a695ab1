import { type Address, readAddress } from '@tollbook/core/address'
import { encodeBase58 } from '@tollbook/core/base58'
import { fromBase64Url } from '@tollbook/core/bytes'
import { type ListedPrice, memoPrefix } from '@tollbook/core/quote'
import { isRefusal, type Refusal, refuse } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { FinalityReader } from '../../payment/finalityReader.ts'
import type { PayerFunds } from '../../payment/payerFunds.ts'
import type { PaymentContent } from '../../payment/paymentContent.ts'
import type { Sales } from '../../paywall/sales.ts'
import type { Product } from '../../product/product.ts'
import { type QuoteDeps, recordQuote, sentBaseUnits } from './challenge.ts'
import { describeShortage } from './describeShortage.ts'
import { checkWallet } from './readWallet.ts'

export interface WalletPaymentDeps extends QuoteDeps {
  readonly sales: Pick<Sales, 'currentPrice' | 'openOffer'>
  readonly chain: Pick<ChainReader, 'find'>
  readonly finality: Pick<FinalityReader, 'listSignatures'>
  readonly blockhash: () => Promise<string>
  readonly readFunds: (wallet: Address) => Promise<PayerFunds>
  readonly buildTransaction: (content: PaymentContent) => Uint8Array
}

export interface WalletQuestion {
  readonly product: Product
  /** Address of the account as the wallet sent it, not validated yet. */
  readonly account: string
  /** SHA-256 of the secret, in base64url. Only the buyer's page has the secret. */
  readonly digest: string
}

/** An unsigned transaction that pays. The wallet signs it and pays the network fee. */
export interface UnsignedPayment {
  readonly transaction: Uint8Array
  readonly price: ListedPrice
}

/** A payment that is confirmed on the chain. It may not be final yet. */
export interface LandedPayment {
  readonly signature: Signature
  readonly wallet: Address
}

/**
 * Payments whose transaction the service builds, for wallets that only sign (Wallet Standard) or that sign and send
 * (Solana Pay). Only the buyer's page has the secret, so strangers cannot use a payment that they see on chain.
 */
export interface WalletPayments {
  prepare(question: WalletQuestion): Promise<UnsignedPayment | Refusal>
  /** Finds the payment for this digest. Undefined until the payment is on chain. */
  find(digest: string): Promise<LandedPayment | undefined>
}

const digestBytes = 32

/**
 * Returns the account by which a payment is found on chain: the digest of its secret. Undefined if the text is not a
 * digest.
 */
function referenceOf(digest: string): Address | undefined {
  const bytes = /^[A-Za-z0-9_-]{43}$/.test(digest) ? fromBase64Url(digest) : undefined
  return bytes?.length === digestBytes ? readAddress(encodeBase58(bytes)) : undefined
}

export function createWalletPayments(deps: WalletPaymentDeps): WalletPayments {
  return { prepare: (question) => prepare(deps, question), find: (digest) => find(deps, digest) }
}

async function prepare(
  deps: WalletPaymentDeps,
  { product, account, digest }: WalletQuestion,
): Promise<UnsignedPayment | Refusal> {
  const { terms, sales, token } = deps
  const payer = checkWallet(account, { field: 'account', terms })
  if (isRefusal(payer)) return payer
  const reference = referenceOf(digest)
  if (reference === undefined) return refuse('NO_DATA', 'the last part of the address must be a digest in base64url')
  const price = sales.currentPrice(product.path)
  if (price === undefined) return refuse('ENDPOINT_UNAVAILABLE', 'the token has no current price', 5)
  const transferBaseUnits = sentBaseUnits(terms, price)
  const [blockhash, funds] = await Promise.all([deps.blockhash(), deps.readFunds(payer)])
  const needed = {
    token,
    mint: terms.mint,
    decimals: price.decimals,
    baseUnits: price.burnBaseUnits + transferBaseUnits,
  }
  const shortage = describeShortage(needed, funds)
  if (shortage !== undefined) return refuse('INSUFFICIENT_BALANCE', shortage)
  const memo = memoPrefix + digest
  const offer = sales.openOffer({ product, payer, price })
  // Allow other quotes with the same memo: the wallet, or anyone who has seen the digest, can request the same payment
  // again.
  const quote = await recordQuote(deps, { ...offer, payer, memo }, { sharesMemo: true })
  const amounts = { burnBaseUnits: quote.burnBaseUnits, transferBaseUnits }
  return { transaction: deps.buildTransaction({ terms, payer, memo, reference, ...amounts, blockhash }), price }
}

async function find({ chain, finality }: WalletPaymentDeps, digest: string): Promise<LandedPayment | undefined> {
  const account = referenceOf(digest)
  if (account === undefined) return undefined
  const listed = await finality.listSignatures({
    account,
    commitment: 'confirmed',
    before: undefined,
    until: undefined,
  })
  // The list is newest first. The oldest transaction with the memo counts, because anyone can copy both the account and
  // the memo from a payment.
  const landed = listed.findLast(({ hasFailed, memo }) => !hasFailed && memo?.includes(memoPrefix + digest) === true)
  if (landed === undefined) return undefined
  const finding = await chain.find(landed.signature)
  const wallet = finding.kind === 'found' ? finding.record.signers[0] : undefined
  return wallet === undefined ? undefined : { signature: landed.signature, wallet }
}
