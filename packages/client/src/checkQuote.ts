import { displayNumber, divideRoundingUp, parseBaseUnits, parseDecimal } from '@tollbook/core/money'
import { type Address, readAddress } from '@tollbook/core/address'
import { memoOfSecret } from '@tollbook/core/binding'
import { pathOf } from '@tollbook/core/endpointName'
import { basePathOf } from '@tollbook/core/pathTemplate'
import { tokenPrograms } from '@tollbook/core/programs'
import { methodToolName, toolNameOf } from '@tollbook/core/toolRequest'
import { quoteBody, type QuoteBody } from '@tollbook/core/wire'
import { announcedBurnPerMille, burnShareOf, specifiedBurnPercent } from './burnShare.ts'
import type { PayableRequest } from './payableRequest.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'
import type { Offer } from './readOffer.ts'
import { associatedTokenAccount } from './solana/programAddress.ts'
import { attoUsdScale } from './spendingLimit.ts'

/** Values that an offer must have. */
export interface QuotePins {
  readonly expectedMint?: string
  readonly expectedNetwork?: string
  readonly expectedPaymentWallet?: string
  /** Burn that an offer must have, in percent. Default: the 30 % of the specification. `'any'` accepts every burn. */
  readonly expectedBurnPercent?: number | 'any'
}

export interface PayableQuote {
  readonly id: string
  readonly endpoint: string
  /** HTTP method of the endpoint. Present in an offer for a tool call. */
  readonly method?: string
  readonly memo: string
  readonly secret: string
  readonly network: string
  readonly mint: Address
  readonly tokenProgram: Address
  readonly paymentWallet: Address
  readonly paymentTokenAccount: Address
  readonly decimals: number
  readonly priceAttoUsd: bigint
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  readonly transferBaseUnits: bigint
  /**
   * Amount to send if the mint withholds a fee, so that `transferBaseUnits` arrive. Undefined: the offer has no such
   * amount.
   */
  readonly transferWithFeeBaseUnits: bigint | undefined
  /** Time from the arrival of the offer to its expiry. */
  readonly lifetimeMs: number
  /** Name of the token, for messages only. */
  readonly tokenSymbol?: string | undefined
  readonly tokenSourceUrl?: string | undefined
}

export interface RequestedOrder extends Pick<PayableRequest, 'tool'> {
  readonly content: Pick<PayableRequest['content'], 'url'>
}

export interface QuoteQuestion {
  readonly offer: Offer
  readonly request: RequestedOrder
  readonly pins: QuotePins
  /** True for a deposit, which must burn nothing. */
  readonly isDeposit?: boolean
}

/** Checks an offer without a request to a node. `planPayment` compares the offer with the chain. */
export function checkQuote({ offer, request, pins, isDeposit = false }: QuoteQuestion): PayableQuote | QuoteProblem {
  const parsed = quoteBody.safeParse(offer.body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return quoteProblem('malformed', `${issue?.path.join('.')}: ${issue?.message}`)
  }
  const quote = readQuote(parsed.data, offer.answeredAtMs)
  if ('problem' in quote) return quote
  return (
    checkSums(quote, parsed.data) ??
    checkPrice(quote, parsed.data) ??
    checkDestination(quote) ??
    checkPins(quote, pins) ??
    // A deposit burns nothing. The requests that spend it burn their share.
    checkBurn(parsed.data, isDeposit ? { expectedBurnPercent: 0 } : pins) ??
    checkUse(quote, request) ??
    quote
  )
}

const u64Max = 2n ** 64n - 1n

function readQuote(body: QuoteBody, answeredAtMs: number): PayableQuote | QuoteProblem {
  const { quote, network } = body
  const [mint, tokenProgram] = [readAddress(body.tokenMint), readAddress(body.tokenProgram)]
  const [paymentWallet, paymentTokenAccount] = [readAddress(body.paymentWallet), readAddress(body.paymentTokenAccount)]
  if (
    mint === undefined ||
    tokenProgram === undefined ||
    paymentWallet === undefined ||
    paymentTokenAccount === undefined
  )
    return quoteProblem('malformed', 'tokenMint, tokenProgram, paymentWallet and paymentTokenAccount are addresses')
  const priceAttoUsd = attoUsdOf(body.pricing.priceUSD)
  if (priceAttoUsd === undefined) return quoteProblem('malformed', 'pricing.priceUSD is not an amount')
  const { transferWithFeeBaseUnits } = quote
  const amounts = {
    requiredBaseUnits: parseBaseUnits(quote.requiredBaseUnits),
    burnBaseUnits: parseBaseUnits(quote.burnBaseUnits),
    transferBaseUnits: parseBaseUnits(quote.transferBaseUnits),
    transferWithFeeBaseUnits:
      transferWithFeeBaseUnits === undefined ? undefined : parseBaseUnits(transferWithFeeBaseUnits),
  }
  if (Object.values(amounts).some((amount) => amount !== undefined && amount > u64Max))
    return quoteProblem('malformed', 'an amount is larger than any token account can hold')
  const { id, memo, secret, decimals } = quote
  const addresses = { mint, tokenProgram, paymentWallet, paymentTokenAccount }
  const lifetimeMs = Date.parse(quote.expiresAt) - answeredAtMs
  const { endpoint, method } = body.pricing
  const { tokenSymbol, tokenSourceUrl } = body
  const names = { endpoint, ...(method && { method }), network, tokenSymbol, tokenSourceUrl }
  return { id, memo, secret, decimals, ...names, lifetimeMs, priceAttoUsd, ...amounts, ...addresses }
}

// Formats a JSON number as the shortest decimal. `toString` would write 1e-7, and `toFixed` the digits of the binary
// fraction.
const plain = new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: attoUsdScale })

/**
 * Converts dollars from a JSON number. Digits after the 18th are rounded. Undefined if the number is negative or not
 * finite.
 */
export function attoUsdOf(usd: number): bigint | undefined {
  return Number.isFinite(usd) ? parseDecimal(plain.format(usd), attoUsdScale) : undefined
}

function checkSums(quote: PayableQuote, body: QuoteBody): QuoteProblem | undefined {
  const { pricing, burnInfo } = body
  const { requiredBaseUnits, burnBaseUnits, transferBaseUnits, decimals } = quote
  if (requiredBaseUnits === 0n) return quoteProblem('sums_wrong', 'nothing is required')
  if (burnBaseUnits + transferBaseUnits !== requiredBaseUnits) {
    return quoteProblem(
      'sums_wrong',
      `burn ${burnBaseUnits} and transfer ${transferBaseUnits} are not the ${requiredBaseUnits} base units required`,
    )
  }
  const burnPerMille = announcedBurnPerMille(body)
  if (burnPerMille === undefined)
    return quoteProblem('sums_wrong', 'distribution and burnInfo are not shares that add up to 100%')
  if (burnBaseUnits < burnShareOf(requiredBaseUnits, burnPerMille)) {
    const message = `${burnBaseUnits} of ${requiredBaseUnits} base units are burned, less than ${burnInfo.percentage}%`
    return quoteProblem('burn_too_small', message)
  }
  if (burnPerMille === 0n && burnBaseUnits > 0n)
    return quoteProblem('other_burn', `${burnBaseUnits} base units are burned, and no burn is announced`)
  const shown = [displayNumber(requiredBaseUnits, decimals), displayNumber(burnBaseUnits, decimals)]
  if (pricing.requiredTokens !== shown[0] || burnInfo.tokensToBurn !== shown[1]) {
    return quoteProblem('sums_wrong', 'the tokens shown are not the base units asked for')
  }
  return undefined
}

/**
 * Checks that requiredTokens is at most priceUSD / tokenPrice (specification, section 2.8). Without this check, an
 * offer could combine a low price in dollars with any number of tokens. The tolerance allows for prices that were
 * rounded to JSON numbers.
 */
function checkPrice(quote: PayableQuote, { pricing }: QuoteBody): QuoteProblem | undefined {
  const tokenAttoUsd = attoUsdOf(pricing.tokenPrice)
  if (tokenAttoUsd === undefined || tokenAttoUsd === 0n) return quoteProblem('price_wrong', 'the token has no price')
  const dueBaseUnits = divideRoundingUp(quote.priceAttoUsd * 10n ** BigInt(quote.decimals), tokenAttoUsd)
  const mostBaseUnits = dueBaseUnits + divideRoundingUp(dueBaseUnits, roundingParts)
  if (quote.requiredBaseUnits <= mostBaseUnits) return undefined
  const asked = `${quote.requiredBaseUnits} base units are required`
  return quoteProblem('price_wrong', `${asked}, but the prices in US dollars make it ${dueBaseUnits}`)
}

const roundingParts = 1_000_000_000n

function checkDestination({ mint, tokenProgram, paymentWallet, paymentTokenAccount }: PayableQuote) {
  if (!tokenPrograms.has(tokenProgram))
    return quoteProblem('token_program_wrong', `${tokenProgram} is not a token program`)
  const account = associatedTokenAccount({ wallet: paymentWallet, mint, tokenProgram })
  return account === paymentTokenAccount
    ? undefined
    : quoteProblem(
        'token_account_wrong',
        `the token account of ${paymentWallet} is ${account}, not ${paymentTokenAccount}`,
      )
}

function checkPins(quote: PayableQuote, { expectedMint, expectedNetwork, expectedPaymentWallet }: QuotePins) {
  return (
    checkPin('other_mint', quote.mint, expectedMint) ??
    checkPin('other_network', quote.network, expectedNetwork) ??
    checkPin('other_payment_wallet', quote.paymentWallet, expectedPaymentWallet)
  )
}

function checkBurn({ burnInfo: { percentage } }: QuoteBody, pins: QuotePins) {
  const { expectedBurnPercent = specifiedBurnPercent } = pins
  return expectedBurnPercent === 'any' || percentage === expectedBurnPercent
    ? undefined
    : quoteProblem('other_burn', `it burns ${percentage}%, and ${expectedBurnPercent}% is expected`)
}

type PinProblem = 'other_mint' | 'other_network' | 'other_payment_wallet'

function checkPin(problem: PinProblem, actual: string, expected: string | undefined): QuoteProblem | undefined {
  return expected === undefined || actual === expected
    ? undefined
    : quoteProblem(problem, `it names ${actual}, and ${expected} is expected`)
}

function checkUse(quote: PayableQuote, { content, tool }: RequestedOrder): QuoteProblem | undefined {
  const { memo, secret, endpoint, method = '', lifetimeMs } = quote
  if (lifetimeMs <= 0) return quoteProblem('expired', 'its end is in the past')
  if (memo !== memoOfSecret(secret)) return quoteProblem('memo_wrong', 'the memo is not the one of the secret')
  const path = pathOf(endpoint)
  const asked = tool === undefined ? new URL(content.url).pathname : `the tool ${tool.name}`
  // Compare the endpoint with the end of the requested path, because a service may have a base path in front.
  const isAsked =
    tool === undefined
      ? basePathOf(asked, path) !== undefined
      : [toolNameOf(path), methodToolName(path, method)].includes(tool.name)
  return endpoint.startsWith('/') && isAsked
    ? undefined
    : quoteProblem('other_endpoint', `it is for ${endpoint}, and ${asked} was asked for`)
}
